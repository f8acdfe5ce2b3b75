/** What a code in an answer means, and what the caller or the owner of the server can do. */
export interface ErrorCode {
  readonly code: string;
  readonly status: number;
  readonly cause: string;
  readonly cure: string;
}

/** A row of the tables. */
export const row = (code: string, status: number, cause: string, cure: string): ErrorCode => ({
  code,
  status,
  cause,
  cure,
});
