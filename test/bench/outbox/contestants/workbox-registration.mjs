// The package is made for service workers and requests a background sync; in a page, it has to replay on `flush()`.
self.registration ??= {};
