import { signal } from '@preact/signals';
import { ApiError, call } from '../../call.ts';
import { failureText } from '../../parts/use-call.ts';
import type { Row } from './staged.ts';

interface Page {
  readonly data: readonly Row[];
  readonly pagination: { readonly total: number | null };
}

/** How many blocks are kept. Others are read again when they become visible. */
const MOST_BLOCKS = 40;

/** Milliseconds without scrolling after which what is seen is read. */
const PAUSE = 60;

/** The rows of a list that have been read, in blocks of one page. */
export class RowStore {
  /** Grows when rows are read or replaced, so that components draw again. */
  readonly version = signal(0);
  readonly total = signal<number | null>(null);
  readonly error = signal<string | null>(null);
  readonly loading = signal(true);
  readonly size: number;
  #path = '';
  #parameters = new URLSearchParams();
  #blocks = new Map<number, readonly Row[]>();
  #asked = new Map<number, AbortController>();
  #seen: readonly [first: number, last: number] = [0, 0];
  /** Whether the blocks belong to an earlier list. */
  #stale = false;
  #timer: ReturnType<typeof setTimeout> | undefined;

  constructor(size: number) {
    this.size = size;
  }

  /** Reads another list. The present rows stay until its first answer. */
  ask(path: string, parameters: URLSearchParams): void {
    this.#path = path;
    this.#parameters = parameters;
    this.reload();
  }

  /** Reads what is seen again. */
  reload(): void {
    this.#abort(() => true);
    this.#stale = true;
    this.#readSeen();
  }

  /** Stops all reading. */
  close(): void {
    clearTimeout(this.#timer);
    this.#abort(() => true);
  }

  at(index: number): Row | undefined {
    return this.#blocks.get(Math.floor(index / this.size))?.[index % this.size];
  }

  /** Sets the visible rows. They are read when scrolling has paused. */
  show(first: number, last: number): void {
    this.#seen = [first, last];
    if (this.#missing().length === 0) return;
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => this.#readSeen(), PAUSE);
  }

  /** Replaces a row by its saved version. */
  replace(row: Row): void {
    for (const [number, rows] of this.#blocks) {
      const at = rows.findIndex(({ id }) => id === row['id']);
      if (at >= 0) this.#blocks.set(number, rows.with(at, { ...rows[at], ...row }));
    }
    this.version.value += 1;
  }

  #readSeen(): void {
    const wanted = this.#wanted();
    this.#abort((block) => !wanted.includes(block));
    for (const block of this.#missing()) void this.#read(block);
  }

  #wanted(): number[] {
    const [first = 0, last = first] = this.#seen.map((index) => Math.floor(index / this.size));
    return Array.from({ length: last - first + 1 }, (_, index) => first + index);
  }

  #missing(): number[] {
    return this.#wanted().filter(
      (block) => (this.#stale || !this.#blocks.has(block)) && !this.#asked.has(block),
    );
  }

  #abort(isUnwanted: (block: number) => boolean): void {
    for (const [block, leaving] of this.#asked)
      if (isUnwanted(block)) {
        this.#asked.delete(block);
        leaving.abort();
      }
  }

  async #read(block: number): Promise<void> {
    const leaving = new AbortController();
    this.#asked.set(block, leaving);
    this.loading.value = true;
    const parameters = new URLSearchParams(this.#parameters);
    parameters.set('limit', String(this.size));
    if (block > 0) parameters.set('page', String(block + 1));
    const { signal } = leaving;
    try {
      const page = await call<Page>('GET', `${this.#path}?${parameters}`, undefined, { signal });
      if (!signal.aborted) this.#keep(block, page);
    } catch (error) {
      if (!signal.aborted && this.#withoutLabels(error)) return this.#read(block);
      if (!signal.aborted) this.error.value = failureText(error);
    }
    if (signal.aborted) return;
    this.#asked.delete(block);
    this.loading.value = this.#asked.size > 0;
  }

  /**
   * The caller may not be allowed to read the labels of related rows. The page is then read without
   * them.
   */
  #withoutLabels(error: unknown): boolean {
    const isRefused = error instanceof ApiError && (error.status === 400 || error.status === 403);
    if (!isRefused || !this.#parameters.has('include')) return false;
    this.#parameters = new URLSearchParams(this.#parameters);
    this.#parameters.delete('include');
    this.#parameters.delete('fields');
    return true;
  }

  #keep(block: number, { data, pagination }: Page): void {
    if (this.#stale) this.#blocks = new Map();
    this.#stale = false;
    this.#blocks.set(block, data);
    this.#forget();
    this.error.value = null;
    this.total.value = pagination.total ?? this.#counted(block, data.length);
    this.version.value += 1;
  }

  /**
   * How many rows the list has, as far as it is known. A list of the project's own function may not
   * say it: more rows may follow a full page.
   */
  #counted(block: number, rows: number): number {
    const known = block * this.size + rows;
    return Math.max(rows === this.size ? known + 1 : known, this.total.value ?? 0);
  }

  #forget(): void {
    const [first = 0] = this.#wanted();
    const far = [...this.#blocks.keys()].sort(
      (one, other) => Math.abs(other - first) - Math.abs(one - first),
    );
    for (const block of far.slice(0, Math.max(0, far.length - MOST_BLOCKS)))
      this.#blocks.delete(block);
  }
}
