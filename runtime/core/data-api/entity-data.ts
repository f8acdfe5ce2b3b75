import { parseExact } from '../data/sql/exact-json.ts';
import type { Operation } from '@twofold/schema';
import { refusal, UNRESTRICTED } from '../data/access/access.ts';
import { toFailure } from '../data/write/database-failure.ts';
import { propertyOf, type EntityModel } from '../data/model.ts';
import { readListArguments } from '../data/rows/page.ts';
import type { Call } from '../data/plan.ts';
import type { Query, Reading } from '../data/reader.ts';
import { EntityPlan } from './entity-plan.ts';
import { type ManyWritten, performMany } from '../data/write/write-many.ts';
import { versionColumn } from '../data/write/kept-columns.ts';
import { performAction } from '../data/write/write-action.ts';
import { openingOf } from '../data/write/write-transaction.ts';
import type { WriteRequest } from '../data/write/write-request.ts';
import { AppError, failure } from '../errors.ts';
import { logTimeout } from '../store/own-transaction.ts';
import type { DataCaller } from './data-parts.ts';
import { createShape, updateShape } from './data-model.ts';
import { uniqueKeys } from './members.ts';
import { InputReader } from './read-input.ts';
import { ROW_KEY } from '../data/sql/scope.ts';
import { rowOf, rowsOf, type Row } from './rows.ts';

type Where = Readonly<Record<string, unknown>>;

interface LockArguments {
  readonly for?: 'update';
  readonly skipLocked?: boolean;
  readonly noWait?: boolean;
}

const LOCK = ['for', 'skipLocked', 'noWait'] as const;

export interface ListArguments extends LockArguments {
  readonly where?: Where;
  readonly orderBy?: unknown;
  readonly distinct?: readonly string[];
  readonly search?: string | null;
  readonly limit?: number;
  readonly offset?: number;
}

interface UpsertArguments {
  readonly where: Where;
  readonly create: unknown;
  readonly update: unknown;
}

interface CreateManyArguments {
  readonly data: readonly unknown[];
  readonly skipDuplicates?: boolean;
}

/** `lock_not_available` of PostgreSQL. */
function refuseLocked(error: unknown): never {
  if ((error as { readonly code?: unknown }).code !== '55P03') throw error;
  throw failure.conflict('Another transaction has locked a row', {
    cause: error,
    extensions: { reason: 'LOCKED' },
  });
}

const nothing = async () => undefined;

function forbidden(): never {
  throw failure.forbidden();
}

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
  async findUnique(args: LockArguments & { readonly where: Where }): Promise<Row | null> {
    this.#input(args, 'where', ...LOCK).assertValid();
    if (args.for !== undefined) {
      this.#key(args.where);
      return this.findFirst(args);
    }
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
    const call = this.#listCall(args);
    const lock = this.#lock(args);
    const read = async () =>
      parts.reader.read(root, [lock ? { ...call, lock } : call], this.#reading());
    // In a savepoint, because the refusal would end the whole transaction.
    const text = await (lock === 'fail'
      ? parts.store.transaction(read).catch(refuseLocked)
      : read());
    return rowsOf(text as string | null, { entity, marker: parts.reader.marker });
  }

  #lock(args: ListArguments): Call['lock'] {
    const { for: mode, skipLocked = false, noWait = false } = args;
    const input = new InputReader(this.#plan.parts);
    if (mode !== undefined) input.names(mode, ['update'], 'for');
    input.arguments(
      {
        ...(skipLocked && { skipLocked }),
        ...(noWait && { noWait }),
        ...(args.distinct && { distinct: true }),
      },
      mode === undefined ? ['distinct'] : [skipLocked ? 'skipLocked' : 'noWait'],
    );
    input.assertValid();
    if (mode === undefined) return undefined;
    if (!this.#plan.parts.store.scope())
      throw new AppError(
        500,
        'TRANSACTION_REQUIRED',
        "for: 'update' holds until the transaction ends, and there is none: use ctx.transaction",
      );
    return skipLocked ? 'skip' : noWait ? 'fail' : 'wait';
  }

  async findFirst(args: ListArguments = {}): Promise<Row | null> {
    return (await this.findMany({ ...args, limit: 1 }))[0] ?? null;
  }

  async count(args: Pick<ListArguments, 'where' | 'search'> = {}): Promise<number> {
    const { where, search } = args;
    this.#input(args, 'where', 'search').assertValid();
    const root = this.#plan.root('count', this.#caller.rules);
    const call = this.#listCall({
      ...(where && { where }),
      ...(search !== undefined && { search }),
    });
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
    const input = this.#input(args, 'where');
    const { entity } = this.#plan;
    const { field = '' } = versionColumn(entity) ?? {};
    const { [field]: version, ...where } = args.where;
    const given = version === undefined ? {} : { [field]: version };
    const read = input.data(updateShape(entity.entity.name), given, 'where');
    input.assertValid();
    return this.#byKey(where, (id) => this.#write(this.#plan.remove, { ...read, id }));
  }

  /** @returns the row, updated or made */
  async upsert(args: UpsertArguments): Promise<Row> {
    const input = this.#input(args, 'where', 'create', 'update');
    const { entity } = this.#plan;
    const { name } = entity.entity;
    const create = input.data(createShape(name), args.create, 'create');
    const update = input.data(updateShape(name), args.update, 'update');
    input.assertValid();
    const where = Object.fromEntries(
      this.#key(args.where).map(({ column, value }) => [
        propertyOf(entity, entity.column(column)),
        value,
      ]),
    );
    return (await this.#write(this.#plan.upsert, { where, create, update })) as Row;
  }

  /** @returns the rows that were made, in the order of `data` */
  async createMany(args: CreateManyArguments): Promise<Row[]> {
    const input = this.#input(args, 'data', 'skipDuplicates');
    const shape = createShape(this.#plan.entity.entity.name);
    const data = args.data.map((item, index) => input.data(shape, item, `data[${index}]`));
    input.assertValid();
    const { skipDuplicates = false } = args;
    const read = (ids: readonly string[], query: Query) => this.#rowsWith(ids, query);
    return (await this.#many(this.#plan.createMany, { data, skipDuplicates }, read)).read;
  }

  /** @returns how many rows were updated */
  async updateMany(args: { readonly where: Where; readonly data: unknown }): Promise<number> {
    const input = this.#input(args, 'where', 'data');
    const { name } = this.#plan.entity.entity;
    const data = input.data(updateShape(name), args.data, '');
    const where = input.where(name, args.where, 'where');
    input.assertValid();
    const written = await this.#many(this.#plan.updateMany, { where, data }, nothing);
    return written.ids.length;
  }

  /** @returns how many rows were deleted */
  async deleteMany(args: { readonly where: Where }): Promise<number> {
    const input = this.#input(args, 'where');
    const where = input.where(this.#plan.entity.entity.name, args.where, 'where');
    input.assertValid();
    return (await this.#many(this.#plan.removeMany, { where }, nothing)).ids.length;
  }

  /** @throws AppError `FORBIDDEN` when the caller may not read one of the rows */
  async #rowsWith(ids: readonly string[], query: Query): Promise<Row[]> {
    const { entity, list, parts } = this.#plan;
    const { rules } = this.#caller;
    if (ids.length === 0) return [];
    const call = readListArguments(parts.model, rules, list, entity, {
      where: { id: { in: ids } },
    });
    const reading = { ...this.#reading(), query };
    const text = await parts.reader.read(this.#plan.root('list', rules), [call], reading);
    const rows = rowsOf(text as string | null, { entity, marker: parts.reader.marker });
    const byId = new Map(rows.map((row) => [String(row['id']), row]));
    return ids.map((id) => byId.get(id) ?? forbidden());
  }

  async #many<T>(
    operation: Operation,
    args: Where,
    read: (ids: readonly string[], query: Query) => Promise<T>,
  ): Promise<ManyWritten<T>> {
    const { rules, context, asker } = this.#caller;
    const request = { operation, args, rules, context, asker, prefix: '', read };
    return this.#written(() => performMany(this.#plan.parts, request));
  }

  async #written<T>(write: () => T | Promise<T>): Promise<T> {
    try {
      return await write();
    } catch (error) {
      throw toFailure(error) ?? error;
    } finally {
      this.#caller.clear();
    }
  }

  /** Finds the key of the row and writes it, in one transaction. */
  async #byKey(where: Where, write: (id: unknown) => Promise<Row | null>): Promise<Row | null> {
    const key = this.#key(where);
    if (key.length === 1 && key[0]?.column === 'id') return write(key[0].value);
    const { parts } = this.#plan;
    const find = async () => {
      const root = this.#plan.root('get', UNRESTRICTED);
      const reading = { ...this.#reading(), rules: UNRESTRICTED };
      const text = await parts.reader.read(root, [{ equals: key, order: [] }], reading);
      return text === null ? null : write(parseExact(text as string)[ROW_KEY].id);
    };
    const { context } = this.#caller;
    const opening = openingOf(parts, { operation: this.#plan.update, context });
    return parts.store
      .transaction(find, opening)
      .catch((error: unknown) => logTimeout(error, context.log));
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
    const { where, orderBy, distinct, search, limit, offset } = args;
    this.#assertReadable();
    const searched = entity.entity.search ? ['search'] : [];
    const paged = ['where', 'orderBy', 'distinct', 'limit', 'offset'];
    const input = this.#input(args, ...paged, ...LOCK, ...searched);
    const read = {
      ...(where && { where: input.where(entity.entity.name, where, 'where') }),
      ...(orderBy !== undefined && { orderBy: input.orderBy(entity, orderBy, 'orderBy') }),
      ...(distinct !== undefined && {
        distinct: input.names(distinct, Object.keys(list.distinct?.by ?? {}), 'distinct'),
      }),
      ...(search !== undefined && { search }),
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
    const request = this.#request(operation, args);
    const written = await this.#written(() => performAction(this.#plan.parts, request));
    return written.id === null ? null : written.read;
  }

  #request(operation: Operation, args: Readonly<Record<string, unknown>>): WriteRequest<Row> {
    const { entity, parts } = this.#plan;
    const { rules } = this.#caller;
    const root = this.#plan.root('get', rules);
    // The caller may write the row but not read it. The write is then refused.
    const take = (text: string | null): Row =>
      rowOf(text, { entity, marker: parts.reader.marker }) ?? forbidden();
    return {
      operation,
      args,
      rules,
      context: this.#caller.context,
      asker: this.#caller.asker,
      prefix: '',
      read: async (id, query) => {
        const call: Call = { equals: [{ column: 'id', value: id }], order: [] };
        const text = await parts.reader.read(root, [call], { ...this.#reading(), query });
        return take(text as string | null);
      },
      // The insert would be committed before `take` could refuse the answer.
      ...(rules.entity(entity.entity, 'READ').kind === 'all' && {
        returning: { root, calls: [{ equals: [], order: [] }], tree: false, take },
      }),
    };
  }

  #reading(): Reading {
    const { rules, asker } = this.#caller;
    return { rules, asker, tree: false, own: true };
  }

  /** @param known the arguments that the function has. */
  #input(args: object, ...known: readonly string[]): InputReader {
    const input = new InputReader(this.#plan.parts);
    input.arguments(args as Where, known);
    return input;
  }
}
