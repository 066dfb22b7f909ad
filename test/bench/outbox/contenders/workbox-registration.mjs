// The package is designed for service workers, where it requests a background sync. In a page, `flush()` has to replay
// the queue instead.
self.registration ??= {};
