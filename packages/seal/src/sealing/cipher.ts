/** Encrypts under one key; authenticated, synchronous, a fresh nonce each time inside the result. */
export interface CipherKey {
  encrypt(plain: Uint8Array): Uint8Array;
  /** Throws for bytes that `encrypt` didn't make under this key. */
  decrypt(sealed: Uint8Array): Uint8Array;
}

/**
 * Port for secrecy (SEAL-34): bodies at rest are unreadable, and the MAC covers what is written.
 * `@holdpoint/seal/node` has AES-256-GCM ready-made.
 */
export interface Cipher {
  /** Sets a derived 32-byte key up once. */
  prepare(key: Uint8Array): CipherKey;
}
