import type { ConstDirectiveNode } from 'graphql';
import { nearest } from '../did-you-mean.ts';
import { ourDirectives } from '../our-directives.ts';
import { finding } from './finding.ts';
import type { Rule } from './finding.ts';

/** DIRECTIVE_UNKNOWN, DIRECTIVE_MISPLACED, DIRECTIVE_REPEATED: a directive exists, may stand where it stands, and stands there once. */
export const directiveNames: Rule = function* ({ facts }) {
  const known = knownDirectives(facts.schema.getDirectives());
  const seen = new Map<unknown, Set<string>>();
  for (const { directive, location, holder } of facts.parsed.uses) {
    const name = directive.name.value;
    const definition = known.get(name);
    if (!definition) yield unknown(directive, known.keys());
    else if (!definition.locations.includes(location as never))
      yield misplaced(directive, definition.locations);
    else if (!definition.isRepeatable && seen.get(holder)?.has(name))
      yield finding('DIRECTIVE_REPEATED', `@${name} stands twice`, directive, {
        fix: 'keep one of the two',
      });
    seen.set(holder, (seen.get(holder) ?? new Set()).add(name));
  }
};

interface Known {
  readonly name: string;
  readonly locations: readonly string[];
  readonly isRepeatable: boolean;
}

function knownDirectives(own: readonly Known[]): ReadonlyMap<string, Known> {
  return new Map(
    [...own, ...ourDirectives().values()].map((directive) => [directive.name, directive]),
  );
}

function unknown(directive: ConstDirectiveNode, known: Iterable<string>) {
  const near = nearest(directive.name.value, known);
  const fix =
    near === undefined
      ? `known: ${[...known].map((name) => `@${name}`).join(' ')}`
      : `Did you mean "@${near}"?`;
  return finding(
    'DIRECTIVE_UNKNOWN',
    `There is no directive @${directive.name.value}`,
    directive.name,
    { fix },
  );
}

const PLACES: Readonly<Record<string, string>> = {
  OBJECT: 'object types',
  FIELD_DEFINITION: 'fields',
  ARGUMENT_DEFINITION: 'arguments',
  INPUT_FIELD_DEFINITION: 'fields of inputs',
  ENUM_VALUE: 'values of enums',
  ENUM: 'enums',
  SCALAR: 'scalars',
  INPUT_OBJECT: 'input types',
  INTERFACE: 'interfaces',
  UNION: 'unions',
  SCHEMA: 'the schema',
};

function misplaced(directive: ConstDirectiveNode, locations: readonly string[]) {
  const places = locations.map((location) => PLACES[location] ?? location).join(', ');
  return finding('DIRECTIVE_MISPLACED', `@${directive.name.value} has no meaning here`, directive, {
    why: `it belongs on ${places}`,
    fix: 'remove it, or move it there',
  });
}
