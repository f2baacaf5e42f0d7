"""Is ``lastmod`` true here: what one read shows, what sampled pages prove, and the plan of fetches.

Nothing here fetches, stores or reads a clock. Times are UTC epoch seconds, durations days unless a
name says otherwise, rates per page and day.
"""
