// The package is made for service workers, where it requests a background sync. In a page, it has to replay on
// `flush()`.
self.registration ??= {};
