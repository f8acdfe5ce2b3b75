import { finding, type Rule } from '../../rules/finding.ts';

const ENGINES = ['auto', 'mlx', 'llamacpp', 'openai'];
const SECTION = ['hosting', 'models'];

/** MODELS_ALIAS_LOOP: an alias must lead to a model. */
export const aliasLoop: Rule = function* ({ facts }) {
  const { values, at } = facts.manifest;
  const aliases = values.hosting?.models?.aliases ?? {};
  for (const name of Object.keys(aliases)) {
    const way = wayOf(aliases, name);
    if (way === null) continue;
    yield finding('MODELS_ALIAS_LOOP', at([...SECTION, 'aliases', name]), {
      summary: `hosting.models.aliases: ${way.join(' → ')} leads to no model`,
      why: 'an alias stands for a model, or for another alias of one',
      fix: 'an id',
    });
  }
};

/** The aliases from a name back to itself, or null when they lead to a model. */
function wayOf(aliases: Readonly<Record<string, string>>, name: string): string[] | null {
  const way = [name];
  for (let next = aliases[name]; next !== undefined; next = aliases[next]) {
    if (next === name) return [...way, next];
    if (way.includes(next)) return null;
    way.push(next);
  }
  return null;
}

/** MODELS_ENGINE_UNKNOWN: an engine has a known name, or is the address of a server. */
export const engineUnknown: Rule = function* ({ facts }) {
  const { values, at } = facts.manifest;
  const engine: unknown = values.hosting?.models?.engine ?? 'auto';
  const wrong = [engine].flat().find((name) => !isEngine(name));
  if (wrong === undefined) return;
  yield finding('MODELS_ENGINE_UNKNOWN', at([...SECTION, 'engine']), {
    summary: `hosting.models.engine: ${String(wrong)} is no engine`,
    why: `engines are ${ENGINES.join(', ')}, and addresses of servers`,
    fix: 'auto',
  });
};

const isEngine = (name: unknown) =>
  typeof name === 'string' &&
  (ENGINES.includes(name) || (/^https?:\/\//.test(name) && URL.canParse(name)));

/** MODELS_PRICE_INVALID: a price is an amount of money. */
export const priceInvalid: Rule = function* ({ facts }) {
  const { values, at } = facts.manifest;
  const prices = values.hosting?.models?.prices ?? {};
  for (const [model, price] of Object.entries(prices)) {
    const wrong = (['input', 'output'] as const).find((kind) => !isAmount(price[kind]));
    if (wrong === undefined) continue;
    yield finding('MODELS_PRICE_INVALID', at([...SECTION, 'prices', model, wrong]), {
      summary: `hosting.models.prices: ${wrong} of ${model} is no price`,
      why: 'a price is for a million tokens, from 0 to 1000000',
      fix: '0',
    });
  }
};

const isAmount = (price: number) => price >= 0 && price <= 1e6;
