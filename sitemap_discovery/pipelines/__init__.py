"""Item pipelines: dedupe, store, select."""
