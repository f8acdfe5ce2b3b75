import type { GraphQLError, OperationDefinitionNode } from 'graphql';
import {
  type Costed,
  priceOperation,
  type Prices,
  type SizedList,
  type Sizes,
  triedCost,
  withDefaults,
} from './cost.ts';
import type { Price, Total, Variables } from './price.ts';
import { limitError, NESTED_PAGES } from './measures.ts';

/** What an operation may read: nested lists of this size, or nothing because that is too much. */
type Allowed = { readonly nested: number | undefined } | { readonly over: GraphQLError };

const AS_USUAL: Allowed = { nested: undefined };

/**
 * Refuses an operation whose answer could have more objects, or whose filters could read more rows,
 * than `api.limits.cost` allows. Where lists multiply, those inside an object that no size is asked
 * for become shorter instead, as long as that suffices. Runs before the first statement.
 */
export function checkCost(prices: Prices, operation: Costed, variables: Variables): Allowed {
  const { limits } = prices.model.project.api;
  if (costOf(prices, operation, variables).value <= limits.cost) return AS_USUAL;
  const nested = NESTED_PAGES.find(
    (size) => costOf(prices, operation, variables, size).value <= limits.cost,
  );
  return nested === undefined ? { over: tooCostly(prices, operation, variables) } : { nested };
}

/**
 * By the most rows of a list inside an object: the prices of operations, each computed once. A price
 * is a number unless a variable affects it.
 */
const PRICES = new Map<number, WeakMap<OperationDefinitionNode, Price>>();

/**
 * The largest number of objects that the answer can have, and of rows that its filters can read.
 *
 * @param nested the most rows of a list inside an object that no size is asked for
 */
export function costOf(
  prices: Prices,
  operation: Costed,
  variables: Variables,
  nested = Infinity,
): Total {
  const { node } = operation;
  let price = PRICES.get(nested)?.get(node);
  if (!price) {
    price = priceOperation({ ...prices, nested }, operation);
    if (!PRICES.has(nested)) PRICES.set(nested, new WeakMap());
    PRICES.get(nested)?.set(node, price);
  }
  return typeof price === 'function' ? price(withDefaults(node, variables)) : price;
}

function tooCostly(prices: Prices, operation: Costed, variables: Variables): GraphQLError {
  const { limits } = prices.model.project.api;
  const { value, costliest } = costOf(prices, operation, variables, NESTED_PAGES.at(-1));
  return limitError(
    'TOO_COSTLY',
    `the operation may come to ${value} objects, ${limits.cost} are allowed; the most are of ${costliest.coordinate}: ${advice(prices, operation, variables)}`,
    { value, limit: limits.cost, coordinate: costliest.coordinate },
  );
}

/** The outermost list that makes the operation small enough with a size, and that size. */
function advice(prices: Prices, operation: Costed, variables: Variables): string {
  const { cost } = prices.model.project.api.limits;
  const sized: SizedList[] = [];
  const nested = NESTED_PAGES.at(-1);
  const priced = (sizes: Sizes) =>
    triedCost({ ...prices, nested, sizes, sized }, operation, variables);
  priced(new Map());
  for (const { field, argument } of [...sized]) {
    const none = priced(new Map([[field, 0]]));
    const each = priced(new Map([[field, 1]])) - none;
    const size = Math.floor((cost - none) / each);
    if (size >= 1) return `${field.name.value}(${argument}: ${size}) is allowed`;
  }
  return 'ask for fewer lists at once';
}
