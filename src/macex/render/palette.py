"""The colours of the pages, by role, for light and dark screens and for paper."""

from __future__ import annotations

from collections.abc import Mapping

Palette = Mapping[str, str]

LIGHT: Palette = {
    "ink": "#1c2128",
    "quiet": "#57606a",
    "line": "#d8dee4",
    "paper": "#ffffff",
    "ground": "#f5f6f8",
    "mark": "#fdf3d0",
    "accent": "#0b5cad",
    "good": "#17693f",
    "goal": "#cfe8d8",
    "warn": "#8a4200",
    "bar": "#7fa9d6",
    "other": "#c9b38a",
}
DARK: Palette = {
    "ink": "#e6e9ee",
    "quiet": "#a4acb8",
    "line": "#3a414c",
    "paper": "#1b1f26",
    "ground": "#12151a",
    "mark": "#3d3515",
    "accent": "#8fbcff",
    "good": "#84d4a4",
    "goal": "#234534",
    "warn": "#f2b872",
    "bar": "#4a7ab3",
    "other": "#84714a",
}
PRINT: Palette = {
    **LIGHT,
    "ink": "#000000",
    "quiet": "#3d3d3d",
    "line": "#c2c2c2",
    "ground": "#ffffff",
    "accent": "#000000",
}
