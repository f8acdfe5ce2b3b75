import { snakeCase } from '@twofold/schema';

const CREDENTIAL = /(^|_)(password|passwd|pwd|secret|token|salt)(_|$)|(^|_)hash$/;

/**
 * Whether a column is named like one that holds a credential. An import does not serve it: a field
 * in a schema can be read by everyone who may read the row.
 *
 * @example isCredentialName('password_hash') // true
 */
export const isCredentialName = (column: string): boolean => CREDENTIAL.test(snakeCase(column));
