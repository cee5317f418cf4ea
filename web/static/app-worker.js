// The page's service worker. It keeps nothing and answers
// nothing: a voice page without its server is of no use, and a kept copy would
// be an old one after the server was upgraded. It is here because browsers ask
// for one before a page can be installed, and it removes what another may have
// kept at this address.

self.addEventListener("install", () => self.skipWaiting());

self.addEventListener("activate", (event) => {
  event.waitUntil(
    caches.keys().then((keys) => Promise.all(keys.map((key) => caches.delete(key)))),
  );
});
