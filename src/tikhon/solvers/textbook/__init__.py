"""The algorithms of the lectures, faithful to the page, with traces. One file per algorithm."""
