/** A document that the sources of a front end have: the generator writes down which do. */
export interface LiveDocument {
  /** The SHA-256 of its text in the list. */
  readonly hash: string;
  /** The comment above its operation, which the text in the list does not have. */
  readonly description?: string;
}
