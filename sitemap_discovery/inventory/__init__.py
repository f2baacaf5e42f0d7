"""What is known of each site: schema, store, queries. No network, no framework."""
