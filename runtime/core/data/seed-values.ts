import type { Store } from '../store/store.ts';

/**
 * Values of seed rows that are no fields of their type: the password of a user. A capability takes
 * them, in the transaction of the seed.
 */
export interface SeedValues {
  readonly names: readonly string[];
  /** Makes ready what `write` needs, before the transaction. */
  prepare(): Promise<void>;
  /** @throws AppError for a value that cannot be taken, with its name in `extensions.field`. */
  check(values: GivenValues, row: Readonly<Record<string, unknown>>): Promise<void>;
  /**
   * A text in place of a value, for the table that remembers seeded rows: the value must not be in
   * it.
   */
  digest(name: string, value: string): string;
  /** Writes the values of a row that was just inserted, or changed in the file. */
  write(id: string, values: GivenValues): Promise<void>;
}

export type GivenValues = Readonly<Record<string, string>>;

const BY_STORE = new WeakMap<Store, Map<string, SeedValues>>();

/** By the name of the entity; undefined for an entity without such values. */
export const seedValuesOf = (store: Store, entity: string): SeedValues | undefined =>
  BY_STORE.get(store)?.get(entity);

/**
 * Takes values of the seed rows of an entity. A capability registers it before rows are loaded.
 *
 * @example takeSeedValues(kernel.store, 'User', { names: ['password'], prepare, check, digest, write })
 */
export function takeSeedValues(store: Store, entity: string, values: SeedValues): void {
  const known = BY_STORE.get(store) ?? new Map<string, SeedValues>();
  BY_STORE.set(store, known.set(entity, values));
}
