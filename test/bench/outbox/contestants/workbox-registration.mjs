// The package is made for service workers and requests a background sync there. In a page, it has to replay the queue
// in `flush()`.
self.registration ??= {};
