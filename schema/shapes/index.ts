/** `@twofold/schema/shapes`: words for JSON Schemas, and the types that follow from them. */
export { closed, count, dateTime, flag, list, listed, object, orNull, text } from './words.ts';
export type { MembersOf, Shaped, ValueOf } from './value-of.ts';
