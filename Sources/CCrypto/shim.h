// OpenSSL's macros and its lists of parameters, as functions and numbers that Swift can use.
#pragma once
#include <openssl/bn.h>
#include <openssl/core_names.h>
#include <openssl/crypto.h>
#include <openssl/ec.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>
#include <openssl/obj_mac.h>
#include <openssl/params.h>

enum { ccrypto_P256 = NID_X9_62_prime256v1 };

// A key on P-256 from its point (65 bytes, uncompressed) and, for a private key, its scalar (32 bytes, big-endian); NULL
// where OpenSSL refuses. OpenSSL copies both; what it copies of the scalar is cleansed with the key.
static inline EVP_PKEY *ccrypto_p256_key(const unsigned char *point, const unsigned char *scalar) {
    unsigned char native[32];
    EVP_PKEY *key = NULL;
    OSSL_PARAM params[4], *next = params;
    EVP_PKEY_CTX *context = EVP_PKEY_CTX_new_from_name(NULL, "EC", NULL);
    if (context == NULL || EVP_PKEY_fromdata_init(context) != 1) {
        EVP_PKEY_CTX_free(context);
        return NULL;
    }
    *next++ = OSSL_PARAM_construct_utf8_string(OSSL_PKEY_PARAM_GROUP_NAME, (char *)SN_X9_62_prime256v1, 0);
    *next++ = OSSL_PARAM_construct_octet_string(OSSL_PKEY_PARAM_PUB_KEY, (void *)point, 65);
    if (scalar != NULL) {
        // Numbers among the parameters are in the machine's own order of bytes.
        for (int i = 0; i < 32; i++)
            native[i] = __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__ ? scalar[i] : scalar[31 - i];
        *next++ = OSSL_PARAM_construct_BN(OSSL_PKEY_PARAM_PRIV_KEY, native, sizeof native);
    }
    *next = OSSL_PARAM_construct_end();
    if (EVP_PKEY_fromdata(context, &key, scalar == NULL ? EVP_PKEY_PUBLIC_KEY : EVP_PKEY_KEYPAIR, params) != 1) key = NULL;
    OPENSSL_cleanse(native, sizeof native);
    EVP_PKEY_CTX_free(context);
    return key;
}
