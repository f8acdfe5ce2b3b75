import { signal } from '@preact/signals';
import type { KeyOf, Module } from '../../rest-modules.ts';
import type { Row } from './staged.ts';
import { labelOf, typeAddress } from './view.ts';

/** The types of the page, in which related rows are looked up. */
export const modules = signal<readonly Module[]>([]);

export const moduleOf = (type: string): Module | undefined =>
  modules.value.find((each) => each.type === type);

/** The address of a related row; null when its type has no rows of its own. */
export function relatedAddress({ type }: KeyOf, id: string): string | null {
  const module = moduleOf(type);
  return module?.readable ? typeAddress(module.plural, { row: id }) : null;
}

/** The label of a related row, when the answer contains it. */
export function labelOfKey({ field, type }: KeyOf, row: Row): string | null {
  const module = moduleOf(type);
  const related = row[field] as Row | null | undefined;
  const name = module ? labelOf(module) : null;
  const label = name === null ? null : related?.[name];
  return label === null || label === undefined || label === '' ? null : String(label);
}
