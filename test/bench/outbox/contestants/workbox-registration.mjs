// The package is made for service workers and asks theirs for a sync; in a page it has to replay at `flush()`.
self.registration ??= {};
