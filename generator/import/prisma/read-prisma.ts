import { last } from '@twofold/schema';
import type * as Ast from '@mrleebo/prisma-ast';
import { CommandError, EXIT } from '../../failure.ts';
import type {
  PrismaArgument,
  PrismaAttribute,
  PrismaEnum,
  PrismaField,
  PrismaModel,
  PrismaSchema,
  PrismaValue,
} from './prisma-schema.ts';

/** The text of a Prisma schema, and the file that it stands in. */
export interface PrismaText {
  readonly file: string;
  readonly text: string;
}

/**
 * Reads Prisma schemas: one file, or the several files of one schema.
 *
 * @throws CommandError `PRISMA_SYNTAX` with file, line and column of what cannot be read
 * @example await readPrisma([{ file: 'schema.prisma', text: 'model User { … }' }])
 */
export async function readPrisma(texts: readonly PrismaText[]): Promise<PrismaSchema> {
  const { getSchema } = await import('@mrleebo/prisma-ast');
  const blocks = texts.flatMap((each) => described(parse(each, getSchema).list));
  const named = (kind: string) => blocks.filter(({ block }) => block.type === kind);
  return {
    provider: providerOf(blocks.map(({ block }) => block)),
    models: [...named('model'), ...named('view')].map(readModel),
    enums: named('enum').map(readEnum),
    composites: named('type').map(({ block }) => (block as Ast.Type).name),
  };
}

const TEXT_OR_COMMENT = /"(?:\\.|[^"\\\n])*"|\/\/.*|\/\*[^]*?\*\//g;

/** Blanks in place of a text, so that what follows keeps its line and column. */
const blank = (part: string) => part.replace(/[^\n]/g, ' ');

function parse({ file, text }: PrismaText, getSchema: typeof Ast.getSchema): Ast.Schema {
  assertCharacters(file, text);
  try {
    // The parser misreads blanks at the end of a line and words in block comments.
    const plain = text.replace(TEXT_OR_COMMENT, (part) =>
      part.startsWith('/*') ? blank(part) : part,
    );
    return getSchema(`${plain.replace(/[ \t\r]+$/gm, '')}\n`);
  } catch (error) {
    const { token, message } = error as {
      message: string;
      token?: { startLine: number; startColumn: number };
    };
    const line = token?.startLine || text.trimEnd().split('\n').length;
    throw syntaxError(file, line, token?.startColumn || 1, message.replace(/\s+/g, ' '));
  }
}

/**
 * Throws for characters that the language does not have. The parser would skip them without an
 * error.
 */
function assertCharacters(file: string, text: string): void {
  const bare = text.replace(TEXT_OR_COMMENT, blank);
  const at = bare.search(/[^\w\s@.?{}()[\],:=!-]/);
  if (at === -1) return;
  const before = text.slice(0, at).split('\n');
  throw syntaxError(
    file,
    before.length,
    last(before).length + 1,
    `${JSON.stringify(text[at])} has no meaning here`,
  );
}

const syntaxError = (file: string, line: number, column: number, why: string) =>
  new CommandError('PRISMA_SYNTAX', {
    message: `${file}:${line}:${column}  ${why}`,
    fix: 'npx prisma validate says more; nothing was written',
    exit: EXIT.invalid,
  });

interface Described<Node> {
  readonly block: Node;
  readonly description?: string;
}

/** Each part with the `///` comments that stand directly above it. */
function described<Node extends { readonly type: string }>(
  list: readonly Node[],
): Described<Exclude<Node, Ast.Comment | Ast.Break>>[] {
  const found: Described<Exclude<Node, Ast.Comment | Ast.Break>>[] = [];
  let lines: string[] = [];
  for (const part of list) {
    if (part.type === 'comment') lines.push(...docLine((part as unknown as Ast.Comment).text));
    else {
      const block = part as Exclude<Node, Ast.Comment | Ast.Break>;
      if (part.type !== 'break') found.push(withDescription(block, lines));
      lines = [];
    }
  }
  return found;
}

const withDescription = <Node>(block: Node, lines: readonly string[]): Described<Node> =>
  lines.length === 0 ? { block } : { block, description: lines.join('\n') };

const docLine = (comment: string | undefined): string[] => {
  const [, text] = /^\/\/\/ ?(.*)$/.exec(comment ?? '') ?? [];
  return text === undefined ? [] : [text.trimEnd()];
};

function providerOf(blocks: readonly Ast.Block[]): string | null {
  const source = blocks.find((block) => block.type === 'datasource') as Ast.Datasource | undefined;
  const assigned = source?.assignments.find(
    (each) => each.type === 'assignment' && each.key === 'provider',
  ) as Ast.Assignment | undefined;
  return typeof assigned?.value === 'string' ? unquoted(assigned.value) : null;
}

function readModel({ block, description }: Described<Ast.Block>): PrismaModel {
  const { name, type, properties } = block as Ast.Model | Ast.View;
  const parts = described(properties);
  return {
    name,
    view: type === 'view',
    ...(description !== undefined && { description }),
    fields: parts.flatMap((part) =>
      part.block.type === 'field' ? [readField(part as Described<Ast.Field>)] : [],
    ),
    attributes: parts.flatMap(({ block: each }) =>
      each.type === 'attribute' ? [readAttribute(each)] : [],
    ),
  };
}

function readField({ block, description }: Described<Ast.Field>): PrismaField {
  const { name, fieldType, array, optional, attributes = [], comment } = block;
  const said = description ?? docLine(comment)[0];
  return {
    name,
    type: typeof fieldType === 'string' ? fieldType : unquoted(String(fieldType.params?.[0] ?? '')),
    unsupported: typeof fieldType !== 'string',
    list: array === true,
    optional: optional === true,
    ...(said !== undefined && { description: said }),
    attributes: attributes.map(readAttribute),
  };
}

function readEnum({ block, description }: Described<Ast.Block>): PrismaEnum {
  const { name, enumerators } = block as Ast.Enum;
  const parts = described(enumerators);
  return {
    name,
    ...(description !== undefined && { description }),
    values: parts.flatMap(({ block: each, description: said }) =>
      each.type === 'enumerator'
        ? [
            {
              name: each.name,
              ...(said !== undefined && { description: said }),
              attributes: (each.attributes ?? []).map(readAttribute),
            },
          ]
        : [],
    ),
    attributes: parts.flatMap(({ block: each }) =>
      each.type === 'attribute' ? [readAttribute(each)] : [],
    ),
  };
}

const readAttribute = ({ name, group, args = [] }: Ast.Attr): PrismaAttribute => ({
  name: group === undefined ? name : `${group}.${name}`,
  args: args.map(({ value }) => readArgument(value)),
});

function readArgument(value: Ast.AttributeArgument['value']): PrismaArgument {
  return isKeyValue(value)
    ? { name: value.key, value: readValue(value.value) }
    : { name: null, value: readValue(value) };
}

const isKeyValue = (value: unknown): value is Ast.KeyValue =>
  typeof value === 'object' && value !== null && 'type' in value && value.type === 'keyValue';

/** The parser returns texts with their quotes, and numbers and words without. */
function readValue(value: Ast.Value): PrismaValue {
  if (typeof value === 'boolean') return { kind: 'boolean', value };
  if (Array.isArray(value)) return { kind: 'list', values: value.map(readValue) };
  if (typeof value === 'object' && value !== null) return readNode(value);
  const text = String(value);
  if (text.startsWith('"')) return { kind: 'text', text: unquoted(text) };
  return /^-?[\d.]/.test(text) ? { kind: 'number', text } : { kind: 'word', text };
}

function readNode(value: Ast.Func | Ast.RelationArray | Ast.ObjectValue): PrismaValue {
  if (value.type === 'array') return { kind: 'list', values: (value.args ?? []).map(readValue) };
  if (value.type === 'object') return { kind: 'list', values: [] };
  const args = (value.params ?? []).filter((each) => !isKeyValue(each)).map(readValue);
  return { kind: 'function', name: value.name, args };
}

function unquoted(text: string): string {
  try {
    return text.startsWith('"') ? (JSON.parse(text) as string) : text;
  } catch {
    return text.slice(1, -1);
  }
}
