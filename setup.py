"""Packaging, also as the egg that Scrapyd runs."""

import re
from pathlib import Path

from setuptools import find_packages, setup

ROOT = Path(__file__).parent
VERSION = re.search(r'__version__ = "(.+)"', (ROOT / "sitemap_discovery/__init__.py").read_text())

setup(
    name="sitemap_discovery",
    version=VERSION[1],
    description="Finds every URL a site publishes without crawling it.",
    license="MIT",
    python_requires=">=3.10",
    packages=find_packages(include=["sitemap_discovery", "sitemap_discovery.*"]),
    package_data={
        "sitemap_discovery": ["py.typed"],
        "sitemap_discovery.inventory": ["*.sql", "migrations/*.sql"],
    },
    install_requires=[
        "scrapy>=2.19",
        "defusedxml>=0.7.1",
        "extruct>=0.18",
        "idna>=3.4",
        "itemadapter>=0.11",
    ],
    entry_points={"scrapy": ["settings = sitemap_discovery.settings"]},
    zip_safe=True,
)
