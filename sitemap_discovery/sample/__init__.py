"""The bundled sample site: a small shop with a blog, and a few faults to see how they are told."""
