import { invalid } from './failure.ts';

/** The fields of a JSON object. */
export type Fields = Readonly<Record<string, unknown>>;

/** Reads numbers within limits; null when absent. @throws ApiFailure 400 that names the field. */
export const numbers =
  (fields: Fields) =>
  (name: string, min: number, max: number): number | null => {
    const value = fields[name];
    if (value === undefined || value === null) return null;
    if (typeof value === 'number' && value >= min && value <= max) return value;
    throw invalid(name, `must be a number from ${min} to ${max}`);
  };

export function flag(fields: Fields, name: string): boolean {
  const value = fields[name];
  if (value === undefined || value === null || typeof value === 'boolean') return value === true;
  throw invalid(name, 'must be true or false');
}
