/** A document that a front end uses. The generator writes the list of these. */
export interface LiveDocument {
  /** The SHA-256 of its text in the list. */
  readonly hash: string;
  /** The comment above the operation in its source, which the text in the list does not have. */
  readonly description?: string;
}
