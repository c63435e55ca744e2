"""The arena: every method meets every other on the same models, rows, budgets and measures.

tables      which tables there are, what is asked of their rows, what may change
factories   which models are fitted on them
cells       a table and a model, fitted
entries     which methods take part, and how each is asked
referee     measures the answers of any method
optimum     the fewest changes there are, on small tables
layout      the columns of the results, and their files
runner      does what is not done, cell by cell
memory      the most memory that a method took
ranks       ranks over cells, and tests
scores      figures over the results: means, intervals, duels, fronts
course      quality against rows
effort      what a run took
board       what the figures say, in tables and pictures
diagram     ranks as a picture
page        the board as a page of the documentation and as one page with every answer
command     `macex bench --arena`
"""
