/** A map that forgets: with more than `max` entries, it drops the one that was set the longest ago. */
export class BoundedMap<K, V> extends Map<K, V> {
  readonly #max: number;

  constructor(max: number) {
    super();
    this.#max = max;
  }

  override set(key: K, value: V): this {
    this.delete(key);
    super.set(key, value);
    const [oldest] = this.keys();
    if (this.size > this.#max) this.delete(oldest as K);
    return this;
  }
}
