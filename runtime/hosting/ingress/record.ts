import type { Listening } from './listeners.ts';

/** The installation's ingress, as its servers store it for each other. */
export interface IngressRecord extends Pick<Listening, 'http' | 'https'> {
  readonly host: string;
  readonly pid: number;
  /** Where an ingress process accepts commands; null for an ingress inside a server. */
  readonly socket: string | null;
}

/** Stores the record in the database: servers that share a database are one installation. */
export interface IngressRecords {
  read(): Promise<IngressRecord | null>;
  write(record: IngressRecord): Promise<void>;
}
