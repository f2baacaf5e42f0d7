"""The project's defaults and wiring, nothing else. ``docs/settings.md`` explains each of ours."""

from scrapy.settings import default_settings as _stock

from sitemap_discovery import __version__
from sitemap_discovery.feeds import FEED_EXPORTERS as FEED_EXPORTERS
from sitemap_discovery.middlewares import DOWNLOADER_MIDDLEWARES as _middlewares

BOT_NAME = "sitemap_discovery"
SPIDER_MODULES = ["sitemap_discovery.spiders"]
NEWSPIDER_MODULE = "sitemap_discovery.spiders"
COMMANDS_MODULE = "sitemap_discovery.commands"

# -- manners: who we are, how often we ask -----------------------------------------------------
USER_AGENT = f"sitemap_discovery/{__version__} (operator has not set USER_AGENT)"
ROBOTSTXT_OBEY = True
CONCURRENT_REQUESTS_PER_DOMAIN = 2
DOWNLOAD_DELAY = 0.25
AUTOTHROTTLE_ENABLED = True
AUTOTHROTTLE_START_DELAY = 0.5
AUTOTHROTTLE_MAX_DELAY = 30
RETRY_TIMES = 1
RETRY_GIVE_UP_LOG_LEVEL = "INFO"
REDIRECT_MAX_TIMES = 5
DOWNLOAD_TIMEOUT = 60

# -- reading -----------------------------------------------------------------------------------
SITEMAP_BATCH_SIZE = 10_000
SITEMAP_MAX_BYTES = 52_428_800
SITEMAP_MAX_FILES = 50_000
SITEMAP_MAX_DEPTH = 5
SITEMAP_ROBOTSTXT_OBEY = True
SITEMAP_RETRY_AFTER_MAX = 120
SITEMAP_ADDRESS_GUARD_ENABLED = True
SITEMAP_ALLOWED_HOSTS: list[str] = []
SITEMAP_CSV_FORMULA_GUARD = True

# -- storing -----------------------------------------------------------------------------------
INVENTORY_ENABLED = True
INVENTORY_URL = "sqlite:///inventory.db"
INVENTORY_GONE_AFTER = 2
INVENTORY_RECHECK_AFTER = 24

# -- safety: every byte comes from someone else's server ---------------------------------------
DOWNLOAD_HANDLERS = {"file": None, "data": None, "ftp": None, "s3": None}
DOWNLOAD_VERIFY_CERTIFICATES = True
DOWNLOAD_MAXSIZE = 67_108_864
DOWNLOAD_WARNSIZE = 0
COOKIES_ENABLED = False
METAREFRESH_ENABLED = False
REFERER_ENABLED = False
HTTPCACHE_ENABLED = False
URLLENGTH_LIMIT = 0  # a request dropped without a word would be waited for
TELNETCONSOLE_ENABLED = False
REMOTE_CONTROL_ENABLED = False
ROBOTSTXT_PARSER = "sitemap_discovery.middlewares.robots.SlicedRobotParser"

# -- wiring ------------------------------------------------------------------------------------
# Ours stand in the base lists, so that a setting of your own adds to them. Stock components that
# are replaced or never used are left out, not only switched off: Scrapy imports those too, and
# remote control (aiohttp) and cookies (tldextract, requests) alone would take a tenth of a run's
# CPU.
DOWNLOADER_MIDDLEWARES_BASE = {
    **{
        path: order
        for path, order in _stock.DOWNLOADER_MIDDLEWARES_BASE.items()
        if path not in _middlewares
    },
    **{path: order for path, order in _middlewares.items() if order is not None},
}
EXTENSIONS_BASE = {
    **{
        path: order
        for path, order in _stock.EXTENSIONS_BASE.items()
        if path.rpartition(".")[2] not in {"FeedExporter", "RemoteControl", "TelnetConsole"}
    },
    "sitemap_discovery.feeds.extension.BatchFeedExporter": 0,
    "sitemap_discovery.extensions.summary.RunSummary": 500,
}
ITEM_PIPELINES_BASE = {
    "sitemap_discovery.pipelines.dedupe.DedupePipeline": 100,
    "sitemap_discovery.pipelines.inventory.InventoryPipeline": 300,
    "sitemap_discovery.pipelines.trust.TrustPipeline": 400,
    "sitemap_discovery.pipelines.select.SelectPipeline": 800,
}
FEED_EXPORT_ENCODING = "utf-8"
LOG_LEVEL = "INFO"
LOG_FORMATTER = "sitemap_discovery.extensions.logs.BatchLogFormatter"
