import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { root } from '../folders.ts';
import { prose, table } from './table.ts';

/** The parts of a JSON Schema that the page shows. */
interface Shape {
  readonly description?: string;
  readonly type?: string | readonly string[];
  readonly enum?: readonly unknown[];
  readonly default?: unknown;
  readonly properties?: Readonly<Record<string, Shape>>;
  readonly items?: Shape;
  readonly anyOf?: readonly Shape[];
  readonly oneOf?: readonly Shape[];
  readonly additionalProperties?: Shape | boolean;
  readonly definitions?: Readonly<Record<string, Shape>>;
  readonly $ref?: string;
}

/** Every key of the manifest, from its JSON Schema. */
export function manifestReference(): string {
  const schema = JSON.parse(
    readFileSync(join(root, 'schema/manifest.schema.json'), 'utf8'),
  ) as Shape;
  const definitions = schema.definitions ?? {};
  const sections = Object.entries(schema.properties ?? {});
  return `# Keys of the manifest

Every key of \`manifest.yaml\`, from its JSON Schema (\`schema/manifest.schema.json\`, which editors read for completion).
[The manifest and the settings](/files/manifest) explains them.

${sections.map(([name, shape]) => sectionOf(name, shape, definitions)).join('\n\n')}
`;
}

type Definitions = Readonly<Record<string, Shape>>;

function sectionOf(name: string, shape: Shape, definitions: Definitions): string {
  const rows = rowsOf([name], shape, definitions);
  const about = resolved(shape, definitions).description;
  return `## ${name}\n\n${about ? `${prose(about)}\n\n` : ''}${table(['Key', 'Value', 'Default', 'What'], rows)}`;
}

function rowsOf(path: readonly string[], shape: Shape, definitions: Definitions): string[][] {
  const whole = resolved(shape, definitions);
  const { properties, items, additionalProperties } = whole;
  const inner = items && resolved(items, definitions);
  if (properties) return childRows(path, properties, definitions);
  const row = [
    `\`${path.join('.')}\``,
    typeOf(whole, definitions),
    defaultOf(whole),
    whole.description ?? '',
  ];
  if (inner?.properties) return [row, ...childRows([...path, '[]'], inner.properties, definitions)];
  if (typeof additionalProperties === 'object') {
    const each = resolved(additionalProperties, definitions);
    if (each.properties) return [row, ...childRows([...path, '*'], each.properties, definitions)];
  }
  return [row];
}

const childRows = (
  path: readonly string[],
  properties: Readonly<Record<string, Shape>>,
  definitions: Definitions,
) =>
  Object.entries(properties).flatMap(([name, child]) =>
    rowsOf([...path, name], child, definitions),
  );

function resolved(shape: Shape, definitions: Definitions): Shape {
  const name = shape.$ref?.split('/').at(-1);
  return name === undefined ? shape : { ...definitions[name], ...shape };
}

function typeOf(shape: Shape, definitions: Definitions): string {
  const one = shape.anyOf ?? shape.oneOf;
  if (shape.enum) return shape.enum.map((value) => `\`${String(value)}\``).join(', ');
  if (one)
    return [...new Set(one.map((each) => typeOf(resolved(each, definitions), definitions)))].join(
      ' or ',
    );
  if (shape.type === 'array')
    return `list of ${shape.items ? typeOf(resolved(shape.items, definitions), definitions) : 'values'}`;
  if (shape.type === undefined) return '';
  return [shape.type].flat().join(' or ');
}

const defaultOf = ({ default: value }: Shape) =>
  value === undefined ? '' : `\`${typeof value === 'string' ? value : JSON.stringify(value)}\``;
