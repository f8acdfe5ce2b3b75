/**
 * The keywords of JSON Schema that the manifest's schema uses, and that `parse/settle.ts`
 * implements.
 */
export interface Shape {
  readonly $ref?: string;
  readonly type?: string | readonly string[];
  readonly enum?: readonly unknown[];
  readonly const?: unknown;
  readonly anyOf?: readonly Shape[];
  readonly properties?: Readonly<Record<string, Shape>>;
  readonly additionalProperties?: boolean | Shape;
  readonly propertyNames?: Shape;
  readonly required?: readonly string[];
  readonly items?: Shape;
  readonly minItems?: number;
  readonly uniqueItems?: boolean;
  readonly minimum?: number;
  readonly exclusiveMinimum?: number;
  readonly maximum?: number;
  readonly minLength?: number;
  readonly pattern?: string;
  readonly default?: unknown;
  readonly description?: string;
}

/** The name of the shared definition that a shape refers to: `duration`. */
export function definitionOf({ $ref }: Shape): string | undefined {
  return $ref?.split('/').at(-1);
}

/** A value of the type `object`: a section of a manifest, a document of JSON. */
export type Data = Readonly<Record<string, unknown>>;

export const isData = (value: unknown): value is Data =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
