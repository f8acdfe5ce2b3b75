import { coreSchema, definitions } from './manifest/core.ts';
import type { Section } from './manifest/section.ts';
import { definitionOf, type Shape } from './manifest/shape.ts';
import { printUnits, type UnitPrinters } from './manifest/units.ts';
import { sections } from './sections.ts';

/** A JSON Schema with the definitions that its parts refer to. */
export interface ManifestSchema extends Shape {
  readonly $schema: string;
  readonly $id: string;
  readonly title: string;
  readonly properties: Readonly<Record<string, Shape>>;
  readonly definitions: Readonly<Record<string, Shape>>;
}

/**
 * The complete JSON Schema of the manifest. `npm run schema` writes it to `manifest.schema.json`.
 */
export const manifestSchema: ManifestSchema = {
  $schema: 'http://json-schema.org/draft-07/schema#',
  $id: 'https://twofold.dev/manifest.schema.json',
  title: 'Twofold manifest',
  description:
    'How people sign in and what the server hosts. Everything but the name has a default; no secret stands here.',
  type: 'object',
  additionalProperties: false,
  required: ['name'],
  properties: sections.reduce<Readonly<Record<string, Shape>>>(withSection, coreSchema),
  definitions: Object.assign({}, definitions, ...sections.map((section) => section.definitions)),
};

/** A shape with the members of the shared definition that it refers to. */
export function wholeShape(shape: Shape): Shape {
  const name = definitionOf(shape);
  return name === undefined ? shape : { ...manifestSchema.definitions[name], ...shape };
}

/**
 * A section of the model, with its durations and sizes printed.
 *
 * @example
 * printSettings('server', project.server, { duration: durationText, size: sizeText }) // { port: 8080, bodyLimit: '1MiB', … }
 */
export function printSettings<Printed>(
  section: string,
  values: object,
  printers: UnitPrinters<Printed>,
): unknown {
  return printUnits(values, manifestSchema.properties[section] ?? {}, printers);
}

/** The properties with one more section, inserted at its path. */
function withSection(
  properties: Readonly<Record<string, Shape>>,
  { name, within, schema }: Section,
): Readonly<Record<string, Shape>> {
  if (within === undefined) return { ...properties, [name]: schema };
  const outer = properties[within];
  if (!outer) throw new Error(`The section ${within} has to stand before ${name} in sections.ts`);
  const inner = { ...outer.properties, [name]: schema };
  return { ...properties, [within]: { ...outer, properties: inner } };
}
