import { type DocumentToken, tokensOf } from './language.ts';
import {
  type SchemaArgument,
  type SchemaDirective,
  type SchemaField,
  findField,
  namedType,
  type ClientSchema,
} from './schema.ts';

/** An open bracket at the position, and what the schema says about its content. */
export interface OpenBracket {
  readonly kind: 'document' | 'selection' | 'variables' | 'arguments' | 'object';
  /** The type whose fields are selected or given. At the top level: the type of the fragment. */
  type?: string | null | undefined;
  /** The type of the inline fragment that is about to open. */
  on?: string | undefined;
  directive?: SchemaDirective | undefined;
  readonly args?: readonly SchemaArgument[];
  /** The argument or field of an input that is being given a value. */
  key?: string;
}

/** The position in a document at which text is typed. */
export interface DocumentPosition {
  readonly frame: OpenBracket;
  readonly previous: DocumentToken | undefined;
  /** The word that ends at the position. */
  readonly typing: DocumentToken | undefined;
}

interface Walk {
  readonly schema: ClientSchema;
  readonly frames: OpenBracket[];
  field: SchemaField | undefined;
  operation: 'query' | 'mutation' | 'subscription';
}

/** Walks the tokens up to `place` and tracks the context of each open bracket. */
export function positionAt(schema: ClientSchema, text: string, place: number): DocumentPosition {
  const tokens = tokensOf(text.slice(0, place)).filter(
    ({ kind }) => kind !== 'space' && kind !== 'comment',
  );
  const last = tokens.at(-1);
  const isTyping =
    last !== undefined &&
    last.at + last.text.length === place &&
    ['name', 'directive', 'variable'].includes(last.kind);
  const typing = isTyping ? tokens.pop() : undefined;
  const walk: Walk = {
    schema,
    frames: [{ kind: 'document' }],
    field: undefined,
    operation: 'query',
  };
  tokens.forEach((token, index) => step(walk, token, tokens[index - 1]?.text));
  return { frame: top(walk), previous: tokens.at(-1), typing };
}

const top = ({ frames }: Walk): OpenBracket => frames.at(-1) ?? { kind: 'document' };

function step(walk: Walk, token: DocumentToken, previous: string | undefined): void {
  const frame = top(walk);
  if (token.text === '{') openBrace(walk, frame);
  else if (token.text === '(') walk.frames.push(argumentsFrame(walk, frame));
  else if (token.text === '}' || token.text === ')') {
    if (walk.frames.length > 1) walk.frames.pop();
  } else if (token.kind === 'directive')
    frame.directive = walk.schema.directives.find(({ name }) => `@${name}` === token.text);
  else if (token.kind === 'name') readName(walk, { frame, name: token.text, previous });
}

function openBrace(walk: Walk, frame: OpenBracket): void {
  const { schema, field, operation } = walk;
  if (frame.kind === 'arguments' || frame.kind === 'object')
    return void walk.frames.push({ kind: 'object', type: inputType(schema, frame) });
  const type =
    frame.kind === 'document'
      ? (frame.type ?? schema[operation])
      : (frame.on ?? (field && namedType(field.type)));
  walk.frames.push({ kind: 'selection', type });
  frame.on = undefined;
  if (frame.kind !== 'document') return;
  frame.type = undefined;
  walk.operation = 'query';
}

function argumentsFrame({ field }: Walk, frame: OpenBracket): OpenBracket {
  if (frame.kind === 'document' && !frame.directive) return { kind: 'variables' };
  return { kind: 'arguments', args: (frame.directive ?? field)?.args ?? [] };
}

function readName(
  walk: Walk,
  { frame, name, previous }: { frame: OpenBracket; name: string; previous: string | undefined },
): void {
  if (frame.kind === 'document') {
    if (name === 'query' || name === 'mutation' || name === 'subscription') walk.operation = name;
    if (previous === 'on') frame.type = name;
  } else if (frame.kind === 'selection') {
    if (previous === 'on') frame.on = name;
    else if (name !== 'on' && previous !== '...') {
      walk.field = findField(walk.schema, frame.type, name) ?? walk.field;
      frame.directive = undefined;
    }
  } else if (previous !== ':') frame.key = name;
}

/** The arguments or input fields that are valid inside a bracket. */
export function membersOf(schema: ClientSchema, frame: OpenBracket): readonly SchemaArgument[] {
  if (frame.kind === 'arguments') return frame.args ?? [];
  return schema.types.get(frame.type ?? '')?.inputFields ?? [];
}

function inputType(schema: ClientSchema, frame: OpenBracket): string | null {
  const member = membersOf(schema, frame).find(({ name }) => name === frame.key);
  return member ? namedType(member.type) : null;
}
