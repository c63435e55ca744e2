"""The report: what a run has to say, as Markdown and as one page of HTML."""
