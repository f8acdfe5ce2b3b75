import type { ListOptions, Operation } from '@twofold/schema';
import { refusal, type Rules, UNRESTRICTED } from '../data/access.ts';
import { toFailure } from '../data/database-failure.ts';
import { propertyOf, type EntityModel } from '../data/model.ts';
import { readListArguments } from '../data/page.ts';
import type { Call, Root } from '../data/plan.ts';
import type { Reading } from '../data/reader.ts';
import { performAction } from '../data/write-action.ts';
import type { WriteRequest } from '../data/write-request.ts';
import { failure } from '../errors.ts';
import { createBoundedCache } from '../store/bounded-cache.ts';
import type { DataCaller, DataParts } from './data-parts.ts';
import { createShape, filterShape, orderShape, UNLIMITED, updateShape } from './data-model.ts';
import { uniqueKeys } from './members.ts';
import { InputReader } from './read-input.ts';
import { ROW_KEY } from '../data/scope.ts';
import { rowOf, rowsOf, ruledFields, type Row } from './rows.ts';

type Where = Readonly<Record<string, unknown>>;

export interface ListArguments {
  readonly where?: Where;
  readonly orderBy?: unknown;
  readonly limit?: number;
  readonly offset?: number;
}

/** What all callers of the data API of one entity share. */
export class EntityPlan {
  readonly parts: DataParts;
  readonly entity: EntityModel;
  readonly create: Operation;
  readonly update: Operation;
  readonly remove: Operation;
  readonly list: ListOptions;
  readonly #roots = createBoundedCache<Root>({ entries: 100, bytes: 100 });

  constructor(parts: DataParts, entity: EntityModel) {
    this.parts = parts;
    this.entity = entity;
    const { name } = entity.entity;
    const returns = { kind: 'entity' } as const;
    this.create = operation(name, {
      kind: 'create',
      entity: name,
      write: createShape(name),
      input: 'data',
      returns,
    });
    this.update = operation(name, {
      kind: 'update',
      entity: name,
      id: ['id'],
      write: updateShape(name),
      input: 'data',
      returns,
    });
    this.remove = operation(name, { kind: 'remove', entity: name, id: ['id'], returns });
    this.list = {
      filters: [],
      where: { arg: 'where', shape: filterShape(name) },
      orderBy: { arg: 'orderBy', shape: orderShape(name) },
      paging: { limit: 'limit', offset: 'offset', default: UNLIMITED, max: UNLIMITED },
      order: [{ column: 'id', descending: false }],
    };
  }

  /** The plan of a read. Callers of one class share it, and its statements with it. */
  root<Kind extends 'get' | 'list' | 'count'>(
    kind: Kind,
    rules: Rules,
  ): Extract<Root, { kind: Kind }> {
    const key = `${kind} ${rules.callerClass}`;
    const known = this.#roots.get(key);
    if (known) return known as Extract<Root, { kind: Kind }>;
    const { name: entity } = this.entity.entity;
    const selection = { entity, fields: ruledFields(this.entity, rules), row: true };
    const { list } = this;
    const root = {
      get: { kind: 'get', entity, call: 0, selection },
      list: { kind: 'list', entity, list, call: 0, selection },
      count: { kind: 'count', entity, list, call: 0 },
    }[kind] as Extract<Root, { kind: Kind }>;
    this.#roots.set(key, root, 1);
    return root;
  }
}

const operation = (entity: string, action: Operation['action']): Operation => ({
  root: 'mutation',
  name: entity,
  args: [],
  type: {
    name: entity,
    kind: 'object',
    text: entity,
    required: false,
    list: false,
    itemRequired: false,
  },
  action,
  rules: [],
  decidedBy: 'ctx.data',
});

function notUnique(entity: EntityModel, keys: readonly (readonly string[])[]): string {
  const names = keys.map((columns) =>
    columns.map((column) => propertyOf(entity, entity.column(column))).join(' and '),
  );
  return `where must be a unique key of ${entity.entity.name}: ${names.join(', or ')}`;
}

/** `ctx.data.<entity>`, for one caller. */
export class EntityData {
  readonly #plan: EntityPlan;
  readonly #caller: DataCaller;

  constructor(plan: EntityPlan, caller: DataCaller) {
    this.#plan = plan;
    this.#caller = caller;
  }

  /** @returns the row */
  async create(args: { readonly data: unknown }): Promise<Row> {
    const input = this.#input(args, 'data');
    const { entity } = this.#plan.entity;
    const read = input.data(createShape(entity.name), args.data, '');
    input.assertValid();
    return (await this.#write(this.#plan.create, { data: read })) as Row;
  }

  /** @returns the row, or null when there is none that the caller may see */
  async findUnique(args: { readonly where: Where }): Promise<Row | null> {
    this.#input(args, 'where').assertValid();
    const { entity, parts } = this.#plan;
    const { rules } = this.#caller;
    this.#assertReadable();
    const key = this.#key(args.where);
    const root = this.#plan.root('get', rules);
    const call: Call = { equals: key, order: [] };
    const text = await parts.reader.read(root, [call], this.#reading());
    return rowOf(text as string | null, { entity, marker: parts.reader.marker });
  }

  /** @returns the rows, all of them when `limit` is absent */
  async findMany(args: ListArguments = {}): Promise<Row[]> {
    const { entity, parts } = this.#plan;
    const root = this.#plan.root('list', this.#caller.rules);
    const text = await parts.reader.read(root, [this.#listCall(args)], this.#reading());
    return rowsOf(text as string | null, { entity, marker: parts.reader.marker });
  }

  async findFirst(args: ListArguments = {}): Promise<Row | null> {
    return (await this.findMany({ ...args, limit: 1 }))[0] ?? null;
  }

  async count(args: { readonly where?: Where } = {}): Promise<number> {
    this.#input(args, 'where').assertValid();
    const { where } = args;
    const root = this.#plan.root('count', this.#caller.rules);
    const call = this.#listCall(where ? { where } : {});
    return Number(await this.#plan.parts.reader.read(root, [call], this.#reading()));
  }

  /** @returns the row, or null when there is none that the caller may see */
  async update(args: { readonly where: Where; readonly data: unknown }): Promise<Row | null> {
    const input = this.#input(args, 'where', 'data');
    const read = input.data(updateShape(this.#plan.entity.entity.name), args.data, '');
    input.assertValid();
    return this.#byKey(args.where, (id) => this.#write(this.#plan.update, { id, data: read }));
  }

  /** @returns the row as it was, or null when there is none that the caller may see */
  async delete(args: { readonly where: Where }): Promise<Row | null> {
    this.#input(args, 'where').assertValid();
    return this.#byKey(args.where, (id) => this.#write(this.#plan.remove, { id }));
  }

  /** Finds the key of the row and writes it, in one transaction. */
  async #byKey(where: Where, write: (id: unknown) => Promise<Row | null>): Promise<Row | null> {
    const key = this.#key(where);
    if (key.length === 1 && key[0]?.column === 'id') return write(key[0].value);
    const { parts } = this.#plan;
    return parts.store.transaction(async () => {
      const root = this.#plan.root('get', UNRESTRICTED);
      const reading = { ...this.#reading(), rules: UNRESTRICTED };
      const text = await parts.reader.read(root, [{ equals: key, order: [] }], reading);
      return text === null ? null : write(JSON.parse(text as string)[ROW_KEY].id);
    });
  }

  #key(where: Where): { column: string; value: unknown }[] {
    const { entity } = this.#plan;
    const input = new InputReader(this.#plan.parts);
    const key = input.key(entity, where, 'where');
    input.assertValid();
    const columns = new Set(key.map(({ column }) => column));
    const keys = uniqueKeys(entity);
    const unique = keys.some(
      (each) => each.length === columns.size && each.every((column) => columns.has(column)),
    );
    if (!unique || key.some(({ value }) => value === null || value === undefined))
      throw failure.invalid(notUnique(entity, keys), {
        extensions: { field: 'where' },
      });
    return key;
  }

  #listCall(args: ListArguments): Call {
    const { entity, list, parts } = this.#plan;
    const { where, orderBy, limit, offset } = args;
    this.#assertReadable();
    const input = this.#input(args, 'where', 'orderBy', 'limit', 'offset');
    const read = {
      ...(where && { where: input.where(entity.entity.name, where, 'where') }),
      ...(orderBy !== undefined && { orderBy: input.orderBy(entity, orderBy, 'orderBy') }),
      limit,
      offset,
    };
    input.assertValid();
    return readListArguments(parts.model, this.#caller.rules, list, entity, read);
  }

  #assertReadable(): void {
    const access = this.#caller.rules.entity(this.#plan.entity.entity, 'READ');
    if (access.kind === 'none') throw refusal(access.code);
  }

  async #write(operation: Operation, args: Readonly<Record<string, unknown>>): Promise<Row | null> {
    try {
      const written = await performAction(this.#plan.parts, this.#request(operation, args));
      return written.id === null ? null : written.read;
    } catch (error) {
      throw toFailure(error) ?? error;
    } finally {
      this.#caller.clear();
    }
  }

  #request(operation: Operation, args: Readonly<Record<string, unknown>>): WriteRequest<Row> {
    const { entity, parts } = this.#plan;
    const { rules } = this.#caller;
    const root = this.#plan.root('get', rules);
    const take = (text: string | null): Row => {
      // The caller may write the row, and not read it. Nothing is written then.
      const row = rowOf(text, { entity, marker: parts.reader.marker });
      if (!row) throw failure.forbidden();
      return row;
    };
    return {
      operation,
      args,
      rules,
      caller: this.#caller.caller,
      context: this.#caller.context,
      prefix: '',
      read: async (id, query) => {
        const call: Call = { equals: [{ column: 'id', value: id }], order: [] };
        const text = await parts.reader.read(root, [call], { ...this.#reading(), query });
        return take(text as string | null);
      },
      // Such an insert is committed before `take` could refuse it.
      ...(rules.entity(entity.entity, 'READ').kind === 'all' && {
        returning: { root, calls: [{ equals: [], order: [] }], tree: false, take },
      }),
    };
  }

  #reading(): Reading {
    const { rules, caller } = this.#caller;
    return { rules, caller, tree: false, own: true };
  }

  /** @param known the arguments that the function has. */
  #input(args: object, ...known: readonly string[]): InputReader {
    const input = new InputReader(this.#plan.parts);
    input.arguments(args as Where, known);
    return input;
  }
}
