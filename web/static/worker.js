// The page's service worker, version {{.Version}}. It keeps nothing: a voice
// page without its server is of no use, and a kept copy would be an old one
// after the server was upgraded. It is here so that an open page learns of a
// newer one, and to remove what an earlier worker may have kept.

self.addEventListener("install", () => self.skipWaiting());

self.addEventListener("activate", (event) => {
  event.waitUntil(
    caches.keys().then((keys) => Promise.all(keys.map((key) => caches.delete(key)))),
  );
});
