/// What `kSecValueRef` takes: a SecKey.
package protocol ItemReference: AnyObject, Sendable {}
