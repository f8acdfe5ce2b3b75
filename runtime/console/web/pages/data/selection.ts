import { signal } from '@preact/signals';
import type { RowStore } from './row-store.ts';
import type { Row } from './staged.ts';

/** The rows whose checkbox is on, by id. */
export class Selection {
  readonly ids = signal<ReadonlySet<string>>(new Set());
  #last: number | null = null;

  get size(): number {
    return this.ids.value.size;
  }

  has(row: Row | undefined): boolean {
    return row !== undefined && this.ids.value.has(String(row['id']));
  }

  /**
   * Changes the checkbox of a row. With `through`, those of all rows since the last changed one get
   * the same value.
   */
  turn(rows: RowStore, index: number, through: boolean): void {
    const next = new Set(this.ids.value);
    const on = !this.has(rows.at(index));
    const from = through && this.#last !== null ? this.#last : index;
    for (let at = Math.min(from, index); at <= Math.max(from, index); at += 1) {
      const row = rows.at(at);
      if (!row) continue;
      if (on) next.add(String(row['id']));
      else next.delete(String(row['id']));
    }
    this.#last = index;
    this.ids.value = next;
  }

  clear(): void {
    this.#last = null;
    this.ids.value = new Set();
  }
}
