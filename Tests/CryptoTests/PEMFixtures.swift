/// Throw-away keys: nothing was ever signed with them.
enum PEM {
    static let point = "03c8c2926a25ca2bd1184f2ea2c050f74d42c703e566da437bb718bdcf4dd44a4e"
    static let pkcs8 = """
        -----BEGIN PRIVATE KEY-----
        MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQgiwODef6psOerWog2
        n9Eki68QvPKzN1fVE8RrJ9DLYayhRANCAATIwpJqJcor0RhPLqLAUPdNQscD5Wba
        Q3u3GL3PTdRKTsENcMPikghXyPjVojkBRb4rAZp5ilhDrpXUHNFKdbP7
        -----END PRIVATE KEY-----
        """

    static let sec1 = """
        -----BEGIN EC PARAMETERS-----
        BggqhkjOPQMBBw==
        -----END EC PARAMETERS-----
        -----BEGIN EC PRIVATE KEY-----
        MHcCAQEEIIsDg3n+qbDnq1qINp/RJIuvELzyszdX1RPEayfQy2GsoAoGCCqGSM49
        AwEHoUQDQgAEyMKSaiXKK9EYTy6iwFD3TULHA+Vm2kN7txi9z03USk7BDXDD4pII
        V8j41aI5AUW+KwGaeYpYQ66V1BzRSnWz+w==
        -----END EC PRIVATE KEY-----
        """

    static let encrypted = """
        -----BEGIN ENCRYPTED PRIVATE KEY-----
        MIHsMFcGCSqGSIb3DQEFDTBKMCkGCSqGSIb3DQEFDDAcBAjM8m9J+vNsYwICCAAw
        DAYIKoZIhvcNAgkFADAdBglghkgBZQMEASoEEIFmACgXPHv0EEf2KYr3YJ8EgZBQ
        26JDxHi1sCtSAoyFtXS07HT6ib1FLJEuIo+dVBdnaRytZYgQKrXwOV40jPBYBp5n
        bJC2uQaP4etKKFWk/1RE37oSD/4tynLU/WCqenBHh3tLoPSUb/VzzQ+CgiOiTKF1
        SN8/guC/HcoirFqtasxkTM6ACBuxhnaW1bktiwaS38OEFQ5FEj86XqLHZ3vjo9E=
        -----END ENCRYPTED PRIVATE KEY-----
        """

    static let publicKey = """
        -----BEGIN PUBLIC KEY-----
        MFkwEwYHKoZIzj0CAQYIKoZIzj0DAQcDQgAEyMKSaiXKK9EYTy6iwFD3TULHA+Vm
        2kN7txi9z03USk7BDXDD4pIIV8j41aI5AUW+KwGaeYpYQ66V1BzRSnWz+w==
        -----END PUBLIC KEY-----
        """

    static let otherCurve = """
        -----BEGIN PRIVATE KEY-----
        MIG2AgEAMBAGByqGSM49AgEGBSuBBAAiBIGeMIGbAgEBBDBiZa4+6JR9omJH7Oy+
        lxqbvJwCwEgBaxHiy4V4o1VWKWU1KCWERI37B67CJE+k5ImhZANiAAT8nBOHwPol
        7/3fmacVgi4SXcfQgi+qOdKqvV9BCobj5qT/Uq5IDxQmInj1Q3xyojegHsgBwuvr
        sB9OvQIJ47wnov1RkvZTLwMwTD4Zx/HhnODcIfU5YleVWtIu9bTpJOU=
        -----END PRIVATE KEY-----
        """

    static let rsa = """
        -----BEGIN PRIVATE KEY-----
        MIICeAIBADANBgkqhkiG9w0BAQEFAASCAmIwggJeAgEAAoGBALoA0GM8R27/xGum
        CpqJ93jToWbN5C0jS9Qa6wOgUIq46i1+6m8dTl4xFPmHl2Na6mRFajP63IQvFyGR
        /q5G+JeE+Tl9Mix6uShOk/tQDe23gy/yxBByPxa+tZxEV9Q9wGkrPS4Ezdrp6Yc6
        UUHI5UGUQbrX7CIJucCCaw7hnHU9AgMBAAECgYBa5mLw3Ficqmo3oaG0/I/wgJx0
        PVKxrHo2YiFQWFyELvJi4Y94Vf4ikiIKAHW/nILIFhRc6tAx2UGYqlyolw6NR2lO
        4SA9sEvCxaX3IrV/N8JARcWTt5qGz9tgQ8f/TKQuD8Y+6VbxYHXkOax5fkoJPQv7
        jRBKXDAMlE5t7kSlkQJBAPMuRt+JYEz0iq3ku0Xr1x4SawktsKNta1CK3e/nQdqe
        PnfNrWwomqKppSuqoqv/z+XFwWRWnNU+V4ULO12d5oMCQQDDzu0IhFO0MuUKutmI
        KW0rabwvFG2UEYfLYUE65FmRXoIlD8nhJKt8O6hBWlfLDTiWPV5Qm6GwMc3sLmlc
        52k/AkEAo2VNw7cnmK2bXNpaptGfehpAByvHCxhjSfv0wdRuIDnBmXf+dbUWqgM4
        8w01PkKlayskFYpI2NOJtOBmJDILhwJBAKvKLhfc0Ps189E4IYXeopMGDz5W89SG
        lNcQmoQqt5Jckl4lvf6zh2hVhsbflkrlbJITgV3DTVYiPAJMrc/+j00CQQCvsWdi
        hVubshnksvHU1ihHnPGK6uoD93/SjpQqLRLiu4hTj/zFDcL4iSo69rRsJcPqSs3s
        0kE77I9FDWaaIZO1
        -----END PRIVATE KEY-----
        """
}
