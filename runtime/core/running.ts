/** A server that is listening. */
export interface Running {
  /** `http://127.0.0.1:8080` */
  readonly url: string;
  /** Stops accepting connections, finishes running requests (10 s at most), closes the database. */
  close(): Promise<void>;
}
