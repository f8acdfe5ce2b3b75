import type { Filter, FilterWord, Write } from '@twofold/schema';
import type { GraphQLSchema } from 'graphql';
import { didYouMean } from '@twofold/schema';
import { failure } from '../errors.ts';
import { found, type EntityModel, type Model } from '../data/model.ts';
import { ownValue } from '../data/scalars/attach.ts';
import { coerceValue } from '../data/scalars/coerce-value.ts';
import { isInsensitive } from '../data/filter/words-condition.ts';
import { isChange } from '../data/write/operators.ts';
import type { InputError } from '../data/write/constraint.ts';
import { filterShape, orderShape } from './data-model.ts';
import { type ColumnMember, columnMembers, isWord } from './members.ts';

type Input = Readonly<Record<string, unknown>>;
type Nested = Extract<Write, { kind: 'nested' }>;

/** What is needed to read an input. It is made once. */
export interface InputReading {
  readonly model: Model;
  readonly schema: GraphQLSchema;
}

/**
 * Reads inputs of own code: each value is checked by its type, in the form that rows have, and
 * unknown members are errors.
 */
export class InputReader {
  readonly #reading: InputReading;
  readonly #errors: InputError[] = [];

  constructor(reading: InputReading) {
    this.#reading = reading;
  }

  /** @throws AppError `BAD_USER_INPUT` with all errors that were found. */
  assertValid(): void {
    const [first] = this.#errors;
    if (!first) return;
    throw failure.invalid(`${first.field} ${first.message}`, {
      extensions: { field: first.field, errors: this.#errors },
    });
  }

  /** `data` of a write. */
  data(shape: string, value: unknown, at: string): Input {
    const { model } = this.#reading;
    const { entity, writes } = found(model.writes.get(shape), `input ${shape}`);
    const members = membersOf(model.entity(entity));
    return this.#object(value, at, (name, given, path) => {
      const write = named(writes).get(name);
      if (!write) return this.#unknown(path, named(writes).keys());
      if (write.kind === 'nested') return this.#nested(write, given, path);
      const { column, type } = found(members.get(name), name);
      return isChange(column, given)
        ? this.#object(given, path, (word, operand, here) =>
            this.#operand(word, operand, here, type),
          )
        : this.#coerced(type, given, path);
    });
  }

  #operand(word: string, value: unknown, path: string, type: string): unknown {
    const one = word === 'push' && !Array.isArray(value);
    return this.#coerced(one ? itemOf(type) : type, value, path);
  }

  /** A filter. A plain value means `eq`. */
  where(entity: string, value: unknown, at: string): Input {
    const { model } = this.#reading;
    const { filters } = found(model.filters.get(filterShape(entity)), `filter of ${entity}`);
    const members = membersOf(model.entity(entity));
    return this.#object(value, at, (name, given, path) => {
      const filter = named(filters).get(name);
      if (!filter) return this.#unknown(path, named(filters).keys());
      return this.#filter(entity, filter, given, path, members.get(name)?.type ?? '');
    });
  }

  /** The columns of a unique key with their values. */
  key(entity: EntityModel, value: unknown, at: string): { column: string; value: unknown }[] {
    const members = membersOf(entity);
    return Object.entries(this.#keyMembers(entity, value, at)).flatMap(([name, item]) => {
      const member = members.get(name);
      return member ? [{ column: member.column.name, value: item }] : [];
    });
  }

  orderBy(entity: EntityModel, value: unknown, at: string): Input[] {
    return (Array.isArray(value) ? value : [value]).map((item) =>
      this.#order(orderShape(entity.entity.name), item, at),
    );
  }

  /** Checks that the names are known ones. */
  names(value: unknown, all: readonly string[], at: string): unknown[] {
    const given: unknown[] = Array.isArray(value) ? value : [value];
    for (const [index, name] of given.entries())
      if (!all.includes(name as string))
        this.#report(
          `${at}[${index}]`,
          ['is not known', didYouMean(String(name), all)].filter(Boolean).join('. '),
        );
    return given;
  }

  #order(shape: string, value: unknown, at: string): Input {
    const { form } = found(this.#reading.model.orders.get(shape), `order ${shape}`);
    const members = named(form.kind === 'fields' ? form.fields : []);
    return this.#object(value, at, (name, given, path) => {
      const member = members.get(name);
      if (!member) return this.#unknown(path, members.keys());
      if ('one' in member) return this.#order(member.shape, given, path);
      if (!('many' in member)) return this.#direction(given, path);
      return this.#object(given, path, (word, direction, here) =>
        word === 'count' ? this.#direction(direction, here) : this.#unknown(here, ['count']),
      );
    });
  }

  /** Reads a direction: `desc`, or `{ direction: 'desc', nulls: 'last' }`. */
  #direction(value: unknown, path: string): unknown {
    const { direction, nulls, ...others } = isObject(value) ? value : { direction: value };
    for (const name of Object.keys(others))
      this.#unknown(`${path}.${name}`, ['direction', 'nulls']);
    if (!/^(asc|desc)$/i.test(String(direction))) this.#report(path, 'must be asc or desc');
    if (nulls !== undefined && !/^(first|last)$/i.test(String(nulls)))
      this.#report(`${path}.nulls`, 'must be first or last');
    return value;
  }

  #filter(entity: string, filter: Filter, value: unknown, path: string, type: string): unknown {
    const { model } = this.#reading;
    switch (filter.kind) {
      case 'and':
      case 'or':
      case 'not':
        return Array.isArray(value)
          ? value.map((item, index) => this.where(entity, item, `${path}[${index}]`))
          : this.where(entity, value, path);
      case 'isNull':
        return this.#coerced('Boolean', value, path);
      case 'operators':
        return this.#words(filter.operators, value, path, type);
      case 'tally':
        return this.#words(filter.operators ?? [], value, path, this.#typeOf(entity, filter.field));
      case 'object':
      case 'equals':
        return this.#coerced(type, value, path);
      case 'one': {
        const target = found(model.filters.get(filter.shape), filter.shape).entity;
        return value === null ? null : this.where(target, value, path);
      }
      case 'many':
        return this.#related(filter, value, path);
    }
  }

  #related(filter: Extract<Filter, { kind: 'many' }>, value: unknown, path: string): unknown {
    const { quantifiers, count = [], shape } = filter;
    const target = found(this.#reading.model.filters.get(shape), shape).entity;
    return this.#object(value, path, (name, item, at) => {
      if (name === 'count') return this.#words(count, item, at, 'Int');
      return quantifiers.includes(name as 'some')
        ? this.where(target, item, at)
        : this.#unknown(at, [...quantifiers, 'count']);
    });
  }

  /** Reads the operators for one field, or a plain value, which means `eq`. */
  #words(words: readonly FilterWord[], value: unknown, path: string, type: string): unknown {
    const isJson = words.includes('path');
    const isWords = isObject(value) && (!isJson || Object.keys(value).every(isWord));
    if (!isWords) return { eq: this.#coerced(type, value, path) };
    return this.#object(value, path, (name, item, at) =>
      words.some((word) => word === name)
        ? this.#word(name as FilterWord, item, at, type)
        : this.#unknown(at, words),
    );
  }

  #word(word: FilterWord, value: unknown, path: string, type: string): unknown {
    const item = itemOf(type);
    switch (word) {
      case 'isNull':
      case 'isEmpty':
        return this.#coerced('Boolean', value, path);
      case 'path':
        return this.#coerced('[String!]', value, path);
      case 'mode':
        if (isInsensitive(value) || value === null || /^sensitive$/i.test(String(value)))
          return value;
        return this.#report(path, 'must be SENSITIVE or INSENSITIVE');
      case 'in':
      case 'notIn':
        return this.#coerced(`[${type}]`, value, path);
      case 'has':
        return this.#coerced(item, value, path);
      case 'hasSome':
      case 'hasEvery':
        return this.#coerced(`[${item}]`, value, path);
      default:
        return this.#coerced(type, value, path);
    }
  }

  #nested(write: Nested, value: unknown, path: string): unknown {
    if (value === null) return null;
    const parts = this.#partsOf(write);
    return this.#object(value, path, (name, given, at) => {
      const read = parts[name];
      return read ? this.#each(given, at, read) : this.#unknown(at, Object.keys(parts));
    });
  }

  /** How to read the items of each part of a nested input. */
  #partsOf(write: Nested): Readonly<Record<string, (item: unknown, at: string) => unknown>> {
    const { model } = this.#reading;
    const create = found(write.create, `${write.name}.create`);
    const to = model.entity(found(model.writes.get(create.shape), create.shape).entity);
    const row = (item: unknown, at: string) => this.#rowKey(to, item, at);
    const made = (item: unknown, at: string) => this.data(create.shape, item, at);
    const update = (item: unknown, at: string) => this.data(write.update?.shape ?? '', item, at);
    const change = { where: row, data: update };
    const isOne = (item: unknown, at: string) => this.#coerced('Boolean', item, at);
    return {
      connect: row,
      create: made,
      connectOrCreate: (item, at) => this.#members(item, at, { where: row, create: made }),
      update: write.set ? (item, at) => this.#members(item, at, change) : update,
      disconnect: write.set ? row : isOne,
      delete: write.set ? row : isOne,
      ...(write.set && { set: row }),
    };
  }

  /** An object that has all of these members. */
  #members(
    value: unknown,
    path: string,
    parts: Readonly<Record<string, (item: unknown, at: string) => unknown>>,
  ): Input {
    const read = this.#object(value, path, (name, item, at) =>
      parts[name] ? parts[name](item, at) : this.#unknown(at, Object.keys(parts)),
    );
    for (const name of Object.keys(parts))
      if (isObject(value) && !(name in read)) this.#report(`${path}.${name}`, 'is missing');
    return read;
  }

  /** A unique key, or an id alone. */
  #rowKey(entity: EntityModel, value: unknown, path: string): Input {
    return isObject(value)
      ? this.#keyMembers(entity, value, path)
      : { id: this.#coerced('ID', value, path) };
  }

  #keyMembers(entity: EntityModel, value: unknown, path: string): Input {
    const members = membersOf(entity);
    return this.#object(value, path, (name, item, at) => {
      const member = members.get(name);
      return member ? this.#coerced(member.type, item, at) : this.#unknown(at, members.keys());
    });
  }

  /** The type of a field with `@count` or `@exists`. */
  #typeOf(entity: string, field: string): string {
    const source = this.#reading.model.entity(entity).fields.get(field)?.source;
    return source?.kind === 'tally' && source.of === 'exists' ? 'Boolean' : 'Int';
  }

  #each(value: unknown, path: string, read: (item: unknown, path: string) => unknown): unknown {
    return Array.isArray(value)
      ? value.map((item, index) => read(item, `${path}[${index}]`))
      : read(value, path);
  }

  #object(
    value: unknown,
    path: string,
    read: (name: string, value: unknown, path: string) => unknown,
  ): Input {
    if (!isObject(value)) {
      this.#report(path, 'must be an object');
      return {};
    }
    const made: Record<string, unknown> = {};
    for (const [name, item] of Object.entries(value))
      if (item !== undefined) made[name] = read(name, item, path === '' ? name : `${path}.${name}`);
    return made;
  }

  #coerced(type: string, value: unknown, path: string): unknown {
    try {
      return coerceValue({ schema: this.#reading.schema, scalar: ownValue }, type, value);
    } catch (error) {
      this.#report(path, error instanceof Error ? error.message : String(error));
      return undefined;
    }
  }

  #unknown(path: string, known: Iterable<string>): undefined {
    const name = path.slice(path.lastIndexOf('.') + 1);
    this.#report(path, ['is not known', didYouMean(name, known)].filter(Boolean).join('. '));
  }

  /** The arguments of a function. */
  arguments(given: Input, known: readonly string[]): void {
    for (const name of Object.keys(given)) if (!known.includes(name)) this.#unknown(name, known);
  }

  #report(field: string, message: string): void {
    this.#errors.push({ field, message });
  }
}

const itemOf = (type: string) => type.replace(/^\[(.*?)!?\]$/, '$1');

const isObject = (value: unknown): value is Input =>
  typeof value === 'object' &&
  value !== null &&
  !Array.isArray(value) &&
  !(value instanceof Date) &&
  !(value instanceof Uint8Array);

const MEMBERS = new WeakMap<EntityModel, ReadonlyMap<string, ColumnMember>>();

function membersOf(entity: EntityModel): ReadonlyMap<string, ColumnMember> {
  const members =
    MEMBERS.get(entity) ?? new Map(columnMembers(entity).map((member) => [member.name, member]));
  MEMBERS.set(entity, members);
  return members;
}

const NAMED = new WeakMap<object, ReadonlyMap<string, any>>();

function named<T extends { readonly name: string }>(list: readonly T[]): ReadonlyMap<string, T> {
  const known = NAMED.get(list) ?? new Map(list.map((item) => [item.name, item]));
  NAMED.set(list, known);
  return known;
}
