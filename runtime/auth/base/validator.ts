import { createRequire } from 'node:module';
import type { LoadValidator } from '@twofold/runtime/http';

const load = createRequire(import.meta.url);

/** Ajv takes 20 ms to load, so it is loaded when the first body is checked. */
export const validator: LoadValidator = () => {
  const { Ajv } = load('ajv') as typeof import('ajv');
  return class extends Ajv {
    constructor(...options: ConstructorParameters<typeof Ajv>) {
      super(...options);
      // Formats are documentation, except that an address is read without the spaces around it.
      this.removeKeyword('format');
      this.addKeyword({
        keyword: 'format',
        type: 'string',
        modifying: true,
        validate: trimAddress,
      });
    }
  };
};

interface Place {
  readonly parentData: Record<string | number, unknown>;
  readonly parentDataProperty: string | number;
}

function trimAddress(format: unknown, value: string, _schema?: unknown, place?: Place): boolean {
  if (format === 'email' && place) place.parentData[place.parentDataProperty] = value.trim();
  return true;
}
