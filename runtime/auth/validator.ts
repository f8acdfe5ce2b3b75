import { createRequire } from 'node:module';
import type { LoadValidator } from '@twofold/runtime/http';

const load = createRequire(import.meta.url);

/** Ajv takes 20 ms to load, so it is loaded when the first body is checked. */
export const validator: LoadValidator = () => (load('ajv') as typeof import('ajv')).Ajv;
