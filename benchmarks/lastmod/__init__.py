"""Sites that tell the truth about ``lastmod``, and sites that do not, played against the rules."""
