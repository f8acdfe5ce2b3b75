import { type Answer, Waiting } from './answer.ts';
import { type Execution, type Path, placeAt } from './execution.ts';
import type { ExecutableField, Fields } from './field.ts';
import { callField, completeMember, completeTree, failField, type Members } from './fields.ts';
import type { Leaf } from './value.ts';

/** Objects that code is made for: those that a plan read, and those out of memory. */
export type SourceKind = 'tree' | 'object';

/** `executeFields` for one selection on objects of one kind. */
export type WrittenSelection = (
  execution: Execution,
  object: Members,
  above: Path,
  index: number,
) => Answer | Promise<Answer>;

/** What code may name besides its fields, and all that it can reach. */
const PARTS = { Waiting, callField, completeMember, completeTree, failField, placeAt };

/** More fields than an object has places of its own for; each takes a line of code. */
const MOST_FIELDS = 100;

/**
 * The code of a selection, ready to run; null where there is none to be had: the selection is too wide, or the process
 * makes no code of texts (`--disallow-code-generation-from-strings`).
 */
export function compileCode(fields: Fields, kind: SourceKind): WrittenSelection | null {
  if (
    fields.length === 0 ||
    fields.length > MOST_FIELDS ||
    !fields.every(({ key, name }) => NAME.test(key) && NAME.test(name))
  )
    return null;
  try {
    return new Function('parts', 'fields', codeOf(fields, kind))(PARTS, fields) as WrittenSelection;
  } catch (thrown) {
    if (thrown instanceof EvalError) return null;
    throw thrown;
  }
}

/** All that a document decides in the code are names, and the grammar of GraphQL lets a name be nothing else. */
const NAME = /^[_A-Za-z][_0-9A-Za-z]*$/;

/**
 * The text of the code: what `executeFields` does, field by field. Nothing of the document is in it but names, as string
 * literals.
 *
 * @example codeOf(fields, 'object') // …v0 = object["name"]; if (typeof v0 !== "string") …
 */
export function codeOf(fields: Fields, kind: SourceKind): string {
  const type = fields[0]?.parent.name;
  return `"use strict";
const { ${Object.keys(PARTS).join(', ')} } = parts;
const [${fields.map((_, index) => `f${index}`).join(', ')}] = fields;
return (execution, object, above, index) => {
  let waiting;
  let path;
  try {
${fields.map((field, index) => indented(fieldCode(field, index, kind))).join('\n')}
    const answer = { ${fields.map(({ key }, index) => `${memberName(key)}: v${index}`).join(', ')} };
    return waiting === undefined ? answer : waiting.finish(answer);
  } catch (thrown) {
    waiting?.abandon();
    throw thrown;
  }
};
//# sourceURL=graphql/${type}-${kind}
`;
}

/** Without brackets it would be the object's prototype. */
const memberName = (key: string) => (key === '__proto__' ? '["__proto__"]' : JSON.stringify(key));

const indented = (code: string) => code.replaceAll(/^/gm, '    ');

function fieldCode(field: ExecutableField, index: number, kind: SourceKind): string {
  const { reads, parent } = field;
  if (reads.typename) return `const v${index} = ${JSON.stringify(parent.name)};`;
  if (kind === 'tree' && reads.fromTree) return treeCode(field, index);
  if (kind === 'object' && reads.fromMember) return memberCode(field, index);
  return `let v${index} = callField(execution, f${index}, object, path ??= placeAt(above, index));\n${lateCode(field, index)}`;
}

/** What is read of an object out of memory may be a getter that throws. */
const memberCode = (field: ExecutableField, index: number) => `let v${index};
try {
  v${index} = object[${JSON.stringify(field.name)}];
  if (${isNotAtHand(field.member, `v${index}`)}) {
    v${index} = completeMember(execution, f${index}, object, v${index}, path ??= placeAt(above, index));
    ${lateCode(field, index)}
  }
} catch (thrown) {
  v${index} = failField(execution, f${index}, thrown, path ??= placeAt(above, index));
}`;

const treeCode = (
  field: ExecutableField,
  index: number,
) => `let v${index} = object[${JSON.stringify(field.key)}];
if (${field.planned ? `typeof v${index} === "object" || v${index} === undefined` : 'true'}) {
  v${index} = completeTree(execution, f${index}, object, v${index}, path ??= placeAt(above, index));
  ${lateCode(field, index)}
}`;

const lateCode = ({ key }: ExecutableField, index: number) =>
  `if (v${index} instanceof Promise) (waiting = (waiting ?? new Waiting()).add(${JSON.stringify(key)}, v${index}), v${index} = null);`;

/** Whether `leafValue` would leave it to the scalar, for most of its values. */
function isNotAtHand(leaf: Leaf | undefined, value: string): string {
  switch (leaf) {
    case 'text':
      return `typeof ${value} !== "string"`;
    case 'integer':
      return `typeof ${value} !== "number" || (${value} | 0) !== ${value}`;
    case 'number':
      return `typeof ${value} !== "number" || ${value} - ${value} !== 0`;
    case 'truth':
      return `typeof ${value} !== "boolean"`;
    default:
      return 'true';
  }
}
