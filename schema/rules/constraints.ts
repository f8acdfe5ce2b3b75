import { getNamedType, getNullableType, isInputObjectType, isListType } from 'graphql';
import type { ASTNode, GraphQLType } from 'graphql';
import { readFieldDirectives } from '../directives/of-fields.ts';
import type { Carrier } from '../directives/arguments.ts';
import type { Built } from '../build/built.ts';
import type { Finding } from '../parse/places.ts';
import { didYouMean } from '../did-you-mean.ts';
import type { Constraint } from '../model.ts';
import { knownScalar } from '../scalars.ts';
import { finding, type Rule } from './finding.ts';

const FORMATS = [
  'email',
  'url',
  'uuid',
  'date',
  'date-time',
  'time',
  'ipv4',
  'ipv6',
  'hostname',
  'slug',
];

/** CONSTRAINT_INVALID: a constraint must be satisfiable, and fit the type of its field. */
export const constraints: Rule = function* (built) {
  if (!built.facts.parsed.uses.some(({ directive }) => directive.name.value === 'constraint'))
    return;
  for (const { carrier, type, name } of constrainable(built)) {
    const node = carrier.directives?.find((directive) => directive.name.value === 'constraint');
    const { constraint } = node ? readFieldDirectives([carrier]) : {};
    for (const problem of constraint ? problems(constraint, type) : [])
      yield report(name(), problem, node);
  }
};

interface ConstrainedInput {
  readonly carrier: Carrier;
  readonly type: GraphQLType;
  readonly name: () => string;
}

function* constrainable({ facts }: Built): Generator<ConstrainedInput> {
  for (const { type } of facts.types.values()) {
    for (const field of Object.values(type.getFields())) {
      yield {
        carrier: field.astNode ?? {},
        type: field.type,
        name: () => `${type.name}.${field.name}`,
      };
      for (const argument of field.args)
        yield {
          carrier: argument.astNode ?? {},
          type: argument.type,
          name: () => `${type.name}.${field.name}(${argument.name}:)`,
        };
    }
  }
  for (const type of Object.values(facts.schema.getTypeMap())) {
    if (!isInputObjectType(type)) continue;
    for (const field of Object.values(type.getFields()))
      yield {
        carrier: field.astNode ?? {},
        type: field.type,
        name: () => `${type.name}.${field.name}`,
      };
  }
}

function report(
  name: string,
  { why, fix }: { why: string; fix?: string | undefined },
  node: ASTNode | undefined,
): Finding {
  return finding('CONSTRAINT_INVALID', node, {
    summary: `The constraint on ${name} cannot hold`,
    why,
    fix: fix ?? 'change the numbers or the pattern, or remove the constraint',
  });
}

type Problems = Generator<{ readonly why: string; readonly fix?: string | undefined }>;

function* problems(constraint: Constraint, type: GraphQLType): Problems {
  const { min, max, minLength, maxLength, pattern, format } = constraint;
  yield* itemProblems(constraint, type);
  const form = knownScalar(getNamedType(type).name)?.column;
  const isNumber = form !== undefined && ['integer', 'real', 'bigint', 'decimal'].includes(form);
  yield* orderProblems(constraint, 'min', 'max');
  yield* orderProblems(constraint, 'minLength', 'maxLength');
  if (isNegative(minLength, maxLength)) yield { why: 'a length is not negative' };
  if ((min ?? max) !== undefined && form !== undefined && !isNumber)
    yield { why: `${String(type)} is no number`, fix: 'minLength and maxLength are for texts' };
  const ofTexts = (minLength ?? maxLength ?? pattern ?? format) !== undefined;
  if (ofTexts && (isNumber || form === 'boolean'))
    yield { why: `${String(type)} is no text`, fix: 'min and max are for numbers' };
  yield* formProblems(constraint);
}

type Bound = 'min' | 'max' | 'minLength' | 'maxLength' | 'minItems' | 'maxItems';

function* orderProblems(constraint: Constraint, least: Bound, most: Bound): Problems {
  const { [least]: low, [most]: high } = constraint;
  if (low !== undefined && high !== undefined && low > high)
    yield { why: `${least} ${low} is above ${most} ${high}` };
}

const isNegative = (...bounds: readonly (number | undefined)[]) =>
  bounds.some((bound) => bound !== undefined && bound < 0);

function* formProblems({ pattern, format }: Constraint): Problems {
  if (pattern !== undefined && !isPattern(pattern))
    yield { why: `${JSON.stringify(pattern)} is no regular expression` };
  if (format !== undefined && !FORMATS.includes(format))
    yield {
      why: `there is no format ${format}`,
      fix: didYouMean(format, FORMATS) ?? `one of ${FORMATS.join(', ')}`,
    };
}

function* itemProblems(constraint: Constraint, type: GraphQLType): Problems {
  const { minItems, maxItems } = constraint;
  if (minItems === undefined && maxItems === undefined) return;
  if (!isListType(getNullableType(type)))
    yield { why: `${String(type)} is no list`, fix: 'minLength and maxLength are for texts' };
  if (isNegative(minItems, maxItems)) yield { why: 'a number of items is not negative' };
  yield* orderProblems(constraint, 'minItems', 'maxItems');
}

function isPattern(pattern: string): boolean {
  try {
    return new RegExp(pattern, 'u').source !== '';
  } catch {
    return false;
  }
}
