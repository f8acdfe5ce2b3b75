import { manifestSchema, wholeShape } from '../manifest-schema.ts';
import { isData, type Data, type Shape } from '../manifest/shape.ts';
import { parseManifest, settledValues } from './manifest.ts';

/** A key of the manifest. */
export interface ManifestKey {
  /** `server.port` */
  readonly name: string;
  /** The value in the manifest, or its default; null when there is neither. */
  readonly value: unknown;
  /** Whether the manifest has the key. */
  readonly written: boolean;
}

/**
 * Every key that a manifest may have, in the order of its schema. A section that is off is one key.
 *
 * @example
 * manifestKeys({ name: 'shop' })[1] // { name: 'server.port', value: 8080, written: false }
 */
export function manifestKeys(written: Data): ManifestKey[] {
  return keysOf({ shape: manifestSchema, path: [], value: settledValues(written), written });
}

/** @example writtenManifest('name: shop') // { name: 'shop' } */
export const writtenManifest = (text: string): Data =>
  parseManifest({ file: 'manifest.yaml', text }).manifest.written;

interface KeyPosition {
  readonly shape: Shape;
  readonly path: readonly string[];
  readonly value: unknown;
  readonly written: unknown;
}

function keysOf({ shape, path, value, written }: KeyPosition): ManifestKey[] {
  const properties = wholeShape(shape).properties;
  if (!properties || !isData(value))
    return [{ name: path.join('.'), value: value ?? null, written: written !== undefined }];
  const names = new Set([...Object.keys(properties), ...Object.keys(value)]);
  return [...names].flatMap((name) =>
    keysOf({
      shape: properties[name] ?? {},
      path: [...path, name],
      value: value[name],
      written: isData(written) ? written[name] : undefined,
    }),
  );
}
