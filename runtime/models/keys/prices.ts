import type { Usage } from '../gateway/dialect.ts';

/** What a million tokens cost. */
export interface Price {
  readonly input: number;
  readonly output: number;
}

/** The prices of models. */
export interface Prices {
  has(model: string): boolean;
  /** The money for tokens, in billionths; 0 without a price. */
  of(model: string, usage: Usage): number;
}

const BILLIONTHS_OF_MILLION = 1000;

export function createPrices(prices: Readonly<Record<string, Price>>): Prices {
  const known = new Map(Object.entries(prices));
  return {
    has: (model) => known.has(model),
    of(model, { input, output }) {
      const price = known.get(model);
      if (!price) return 0;
      return Math.ceil((input * price.input + output * price.output) * BILLIONTHS_OF_MILLION);
    },
  };
}
