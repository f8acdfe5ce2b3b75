import { Kind, type ConstDirectiveNode, type ConstValueNode } from 'graphql';
import { nearest } from '../did-you-mean.ts';
import { ourDirectives } from '../our-directives.ts';
import type { Change } from '../parse/changes.ts';
import type { DirectiveUse } from '../parse/directive-places.ts';
import { finding, removed, type Rule } from './finding.ts';

/**
 * DIRECTIVE_UNKNOWN, DIRECTIVE_MISPLACED, DIRECTIVE_REPEATED: a directive must exist, be allowed at
 * its location, and be used once there.
 */
export const directiveNames: Rule = function* ({ facts }) {
  const known = knownDirectives(facts.schema.getDirectives());
  const seen = new Map<unknown, Set<string>>();
  for (const { directive, location, holder } of facts.parsed.uses) {
    const name = directive.name.value;
    const definition = known.get(name);
    if (!definition) yield unknown({ directive, location, holder }, known.keys());
    else if (!definition.locations.includes(location as never))
      yield misplaced(directive, definition.locations);
    else if (!definition.isRepeatable && seen.get(holder)?.has(name))
      yield finding('DIRECTIVE_REPEATED', directive, {
        summary: `@${name} stands twice`,
        fix: 'keep one of the two',
        changes: removed(directive),
      });
    seen.set(holder, (seen.get(holder) ?? new Set()).add(name));
  }
};

interface KnownDirective {
  readonly name: string;
  readonly locations: readonly string[];
  readonly isRepeatable: boolean;
}

function knownDirectives(own: readonly KnownDirective[]): ReadonlyMap<string, KnownDirective> {
  return new Map(
    [...own, ...ourDirectives().values()].map((directive) => [directive.name, directive]),
  );
}

function unknown(use: DirectiveUse, known: Iterable<string>) {
  const { directive } = use;
  const names = [...known];
  const near = nearest(directive.name.value, names);
  const change: Change =
    near === undefined
      ? { kind: 'definition', beside: directive, text: declaration(use) }
      : { kind: 'replace', node: directive.name, text: near };
  return finding('DIRECTIVE_UNKNOWN', directive.name, {
    summary: `There is no directive @${directive.name.value}`,
    why: `known: ${names.map((name) => `@${name}`).join(' ')}`,
    fix: (line) => (near === undefined ? `if it is yours:  ${line}` : `Did you mean "@${near}"?`),
    changes: [change],
  });
}

/** A declaration with the location and all arguments of this use. */
function declaration({ directive, location }: DirectiveUse): string {
  const args = (directive.arguments ?? []).map(
    ({ name, value }) => `${name.value}: ${typeOf(value)}`,
  );
  return `directive @${directive.name.value}${args.length > 0 ? `(${args.join(', ')})` : ''} repeatable on ${location}`;
}

const TYPES: Readonly<Partial<Record<Kind, string>>> = {
  [Kind.INT]: 'Int',
  [Kind.FLOAT]: 'Float',
  [Kind.BOOLEAN]: 'Boolean',
};

function typeOf(value: ConstValueNode): string {
  if (value.kind === Kind.LIST) return `[${value.values[0] ? typeOf(value.values[0]) : 'String'}]`;
  return TYPES[value.kind] ?? 'String';
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
  return finding('DIRECTIVE_MISPLACED', directive, {
    summary: `@${directive.name.value} has no meaning here`,
    why: `it belongs on ${places}`,
    fix: 'remove it, or move it there',
    changes: removed(directive),
  });
}
