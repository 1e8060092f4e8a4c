"""What lists and texts have in common: rows that are drawn one by one, many of them, under a scroll bar."""

from __future__ import annotations

from textual.geometry import Size
from textual.scroll_view import ScrollView
from textual.widget import Widget


class LineView(ScrollView):
    """A scroll view whose number of rows often changes."""

    ALLOW_SELECT = False

    def set_height(self, rows: int) -> None:
        """Say how many rows there are.

        Textual lays out the whole screen anew when that changes, which takes longer than drawing it. Only a scroll bar
        that comes or goes needs it.
        """
        room, size = self.container_size.height, Size(0, rows)
        has_bar = self.show_vertical_scrollbar
        if not room or has_bar != (rows > room):
            self.virtual_size = size
            return
        self.set_reactive(Widget.virtual_size, size)
        if has_bar and self._thumb(rows) != self._thumb(self.vertical_scrollbar.window_virtual_size):
            self.vertical_scrollbar.window_virtual_size = rows  # draws the bar anew, a line of it for each of ours
        self.scroll_y = self.validate_scroll_y(self.scroll_y)

    def _thumb(self, rows: int) -> tuple[int, int]:
        """Where in a bar for so many rows the thumb begins and how long it is, in eighths of a cell."""
        eighths = 8 * self.container_size.height
        return round(eighths * self.scroll_y / rows), round(eighths * self.container_size.height / rows)
