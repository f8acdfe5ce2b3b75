import type {
  Aggregated,
  Call,
  ConnectionPart,
  Member,
  Planned,
  Root,
  Selection,
} from '../plan.ts';
import type { JsonText } from '../../store/large-text.ts';
import { parseExact } from '../sql/exact-json.ts';
import { TYPE_KEY } from '../sql/scope.ts';

/**
 * Notes a list that has more rows than the page that nobody asked for: the keys that lead to it in
 * the answer, and the rows that it shows.
 */
export type NoteCut = (path: readonly string[], size: number) => void;

type Members = Record<string, any>;

/** The kinds of fields with objects below them. */
const HOLDS_OBJECTS: ReadonlySet<Planned['kind']> = new Set([
  'one',
  'many',
  'abstract',
  'connection',
  'aggregated',
]);

/** One read: what, with which arguments, and for whom. */
interface Read {
  readonly node: Root | Planned;
  readonly calls: readonly Call[];
  readonly reading: { readonly tree: boolean; readonly noteCut?: NoteCut | undefined };
}

type Text = JsonText | number | null;

/**
 * Reads answers whose lists tell that they are not whole. Most lists end before their page does: the
 * statement only compares the number of rows. Where one is longer, the lists are read again with the
 * next row, and from then on at once.
 */
export class ToldPages {
  readonly #marker: string;
  readonly #longer = new WeakSet<object>();

  constructor(marker: string) {
    this.#marker = marker;
  }

  read<T extends Text | (string | null)[]>(
    read: Read,
    run: (pages?: 'marked' | 'longer') => T | Promise<T>,
  ): T | Promise<T> {
    const { node, calls, reading } = read;
    if (!reading.noteCut || !calls.some(({ page }) => page?.told)) return run();
    const runLonger = () => after(run('longer'), (found) => this.#ended(read, found));
    if (this.#longer.has(node)) return runLonger();
    return after(run('marked'), (found) => {
      if (!this.#isCut(found)) return found;
      this.#longer.add(node);
      return runLonger();
    });
  }

  #isCut(found: Text | readonly Text[]): boolean {
    if (Array.isArray(found)) return found.some((text) => this.#isCut(text));
    const text = found as Text;
    return text !== null && typeof text !== 'number' && text.includes(`"${this.#marker}":"CUT"`);
  }

  #ended<T extends Text | (string | null)[]>({ node, calls, reading }: Read, found: T): T {
    let cut = false;
    const note: NoteCut = (path, size) => {
      cut = true;
      reading.noteCut?.(path, size);
    };
    const pages = new Pages(calls, note, { marker: this.#marker, tree: reading.tree });
    const ended = (text: Text): any => {
      if (text === null || typeof text === 'number') return text;
      const value: unknown = parseExact(String(text));
      pages.end(node, value);
      return JSON.stringify(value);
    };
    const done = Array.isArray(found) ? found.map(ended) : ended(found as Text);
    if (!cut) this.#longer.delete(node);
    return done;
  }
}

/** Works on a value at once where it is there: a promise would be most of the cost of a small read. */
function after<T>(value: T | Promise<T>, next: (value: T) => T | Promise<T>): T | Promise<T> {
  return value instanceof Promise ? value.then(next) : next(value);
}

/**
 * Ends each list of an answer where its page ends. Lists whose page nobody asked for were read with
 * one row more, which tells that there are more.
 */
class Pages {
  readonly #calls: readonly Call[];
  readonly #note: NoteCut;
  readonly #form: { readonly marker: string; readonly tree: boolean };
  readonly #path: string[] = [];

  /** @param form `tree`: whether the answer keeps the names of types. */
  constructor(
    calls: readonly Call[],
    note: NoteCut,
    form: { readonly marker: string; readonly tree: boolean },
  ) {
    this.#calls = calls;
    this.#note = note;
    this.#form = form;
  }

  end(node: Root | Planned, value: any): void {
    switch (node.kind) {
      case 'get':
      case 'one':
        return this.#object(node.selection, value);
      case 'list':
      case 'many':
        return this.#rows(node.call, value, (row) => this.#object(node.selection, row));
      case 'abstractList':
      case 'nodes':
        return this.#rows(node.call, value, (row) => this.#member(node.members, row));
      case 'node':
      case 'abstract':
        return this.#member(node.members, value);
      case 'connection':
        return node.fields.forEach((part) => this.#part(node.call, part, value));
      case 'aggregated':
        return node.grouped
          ? this.#rows(node.call, value, (group) => this.#group(node, group))
          : undefined;
      default:
    }
  }

  #rows(call: number, rows: any, each: (row: any) => void): void {
    if (!Array.isArray(rows)) return;
    const page = this.#calls[call]?.page;
    if (page?.told && rows.length > page.limit) {
      rows.length = page.limit;
      this.#note([...this.#path], page.limit);
    }
    for (const row of rows) each(row);
  }

  #object(selection: Selection, object: Members | null): void {
    if (!object || this.#form.marker in object) return;
    if (!this.#form.tree) delete object[TYPE_KEY];
    for (const field of selection.fields)
      if (HOLDS_OBJECTS.has(field.kind))
        this.#at(field.key, () => this.end(field, object[field.key]));
  }

  #member(members: readonly Member[], object: Members | null): void {
    const member = members.find(({ entity }) => entity === object?.[TYPE_KEY]);
    if (member) this.#object(member.selection, object);
  }

  #part(call: number, part: ConnectionPart, connection: Members | null): void {
    if (!connection || (part.kind !== 'nodes' && part.kind !== 'edges')) return;
    this.#at(part.key, () =>
      this.#rows(call, connection[part.key], (row: Members) => {
        if (part.kind === 'nodes') return this.#object(part.selection, row);
        for (const field of part.fields)
          if (field.kind === 'node')
            this.#at(field.key, () => this.#object(field.selection, row[field.key]));
      }),
    );
  }

  #group({ fields }: Aggregated, group: Members): void {
    for (const part of fields)
      if (part.kind === 'groupKey')
        for (const { planned } of part.fields)
          this.#at(part.key, () =>
            this.#at(planned.key, () => this.end(planned, group[part.key]?.[planned.key])),
          );
  }

  #at(key: string, inside: () => void): void {
    this.#path.push(key);
    inside();
    this.#path.pop();
  }
}
