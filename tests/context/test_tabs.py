"""Open documents: which of them are to be looked into, and which were viewed lately."""

from lsp_complete.context.tabs import MAX_RECENT, Tabs


def test_what_changed_is_looked_into_once_the_cursor_is_elsewhere() -> None:
    tabs = Tabs()
    tabs.put("/a", "1")
    assert not tabs.has_dirty
    tabs.put("/b", "1")
    assert (tabs.take_dirty(), tabs.take_dirty()) == ("/a", None)
    tabs.view("/c")
    assert (tabs.take_dirty(), tabs.take_dirty()) == ("/b", None)
    tabs.look_again()
    assert {tabs.take_dirty(), tabs.take_dirty()} == {"/a", "/b"}


def test_a_closed_file_has_no_text_but_was_viewed_and_one_that_is_gone_was_not() -> None:
    tabs = Tabs()
    for file in ("/a", "/d/b", "/d/c", "/db"):
        tabs.put(file, "1")
    tabs.close("/a")
    assert (tabs.text("/a"), tabs.text("/db")) == (None, "1")
    assert tabs.recent() == ["/db", "/d/c", "/d/b", "/a"]
    assert tabs.forget("/d") == ["/d/b", "/d/c"]
    assert tabs.recent() == ["/db", "/a"]


def test_few_viewed_files_are_remembered() -> None:
    tabs = Tabs()
    for number in range(2 * MAX_RECENT):
        tabs.view(f"/{number}")
    assert tabs.recent() == [f"/{number}" for number in reversed(range(MAX_RECENT, 2 * MAX_RECENT))]
