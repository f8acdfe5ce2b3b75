import type { Field, FilterShape, ObjectType, Operation, OrderShape, Project } from '../model.ts';

/** The parts of a project, by name, on which the cost of an operation depends. */
export interface PricedModel {
  readonly project: Pick<Project, 'api'>;
  readonly entities: ReadonlyMap<string, { readonly fields: ReadonlyMap<string, Field> }>;
  readonly objects: ReadonlyMap<string, ObjectType>;
  readonly filters: ReadonlyMap<string, FilterShape>;
  readonly orders: ReadonlyMap<string, OrderShape>;
  /** By `Query.posts`. */
  readonly operations: ReadonlyMap<string, Operation>;
}

/** The variables of a request. */
export type Variables = Readonly<Record<string, unknown>>;

/** The field that contributes most objects, as `Type.field`. */
interface CostliestField {
  readonly coordinate: string;
  readonly value: number;
}

export interface Total {
  readonly value: number;
  readonly costliest: CostliestField;
}

/** The cost of a part of an operation: a number, or a function of the variables. */
export type Price = Total | ((variables: Variables) => Total);

export const NOTHING: Total = { value: 0, costliest: { coordinate: '', value: 0 } };

export type Amount = number | ((variables: Variables) => number);

export const totalOf = (price: Price, variables: Variables): Total =>
  typeof price === 'function' ? price(variables) : price;

const costlier = (a: CostliestField, b: CostliestField) => (b.value > a.value ? b : a);

export function sum(prices: readonly Price[]): Price {
  const some = prices.filter((price) => price !== NOTHING);
  if (some.length <= 1) return some[0] ?? NOTHING;
  const at = (variables: Variables) =>
    some.reduce<Total>((all, price) => {
      const { value, costliest } = totalOf(price, variables);
      return { value: all.value + value, costliest: costlier(all.costliest, costliest) };
    }, NOTHING);
  return some.some((price) => typeof price === 'function') ? at : at({});
}

/** `size` objects of the field, each with the price of its own selection. */
export function times(size: Amount, coordinate: string, below: Price): Price {
  const at = (variables: Variables): Total => {
    const count = typeof size === 'function' ? size(variables) : size;
    const { value, costliest } = totalOf(below, variables);
    return {
      value: count * (1 + value),
      costliest: costlier(
        { coordinate, value: count },
        { coordinate: costliest.coordinate, value: count * costliest.value },
      ),
    };
  };
  return typeof size === 'function' || typeof below === 'function' ? at : at({});
}
